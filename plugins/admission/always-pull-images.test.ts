import { admissionTable } from 'kubenest/sdk/testing';
import { AlwaysPullImages } from './always-pull-images.ts';
import { main, pod } from './test-objects.ts';

const always = { ...main, imagePullPolicy: 'Always' };
admissionTable(AlwaysPullImages, [
  {
    name: 'containers of all kinds, and image volumes',
    object: pod({ initContainers: [main], volumes: [{ name: 'v', image: { reference: 'r' } }] }),
    want: {
      spec: { containers: [always], initContainers: [always], volumes: [{ name: 'v', image: { reference: 'r', pullPolicy: 'Always' } }] },
    },
  },
  { name: 'an update with the same images', object: pod(), oldObject: pod() },
  {
    name: 'an update with another image',
    object: pod({ containers: [{ ...main, image: 'new' }] }),
    oldObject: pod(),
    want: { spec: { containers: [{ ...always, image: 'new' }] } },
  },
]);

/** Simulates a webhook that changed the policy after the mutating phase. */
const onlyValidating = Object.create(AlwaysPullImages.prototype, { admit: { value: undefined } }) as AlwaysPullImages;
admissionTable(onlyValidating, [
  {
    name: 'policies changed after mutation',
    object: pod({ containers: [main, always, { ...main, name: 'other' }] }),
    fails:
      /^\[pods "x" is forbidden: spec.containers\[0\].imagePullPolicy: Unsupported value: "": supported values: "Always", pods "x" is forbidden: spec.containers\[2\]/,
  },
]);
