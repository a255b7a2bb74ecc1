import type { Client, KubeObject } from 'kubenest/sdk';
import { admissionTable, fakeClient, fakeInformers } from 'kubenest/sdk/testing';
import { main, object, pod } from './test-objects.ts';
import { ServiceAccountAdmission } from './service-account.ts';

const containers = [main];
/** A store with objects that the informers have not received. */
const live = (...objects: KubeObject[]): Client =>
  fakeClient({
    get: async (_, namespace, name) => objects.find(({ metadata }) => (metadata.namespace ?? '') === namespace && metadata.name === name),
  });

const accounts = fakeInformers({
  serviceaccounts: [
    object(
      'v1',
      'ServiceAccount',
      { automountServiceAccountToken: false, imagePullSecrets: [{ name: 'pull' }] },
      { name: 'default', namespace: 'ns' },
    ),
    object(
      'v1',
      'ServiceAccount',
      { automountServiceAccountToken: false, secrets: [{ name: 'own' }] },
      { name: 'strict', namespace: 'ns', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
    ),
  ],
});
const mirror = { 'kubernetes.io/config.mirror': 'x' };
const newAccount = live(object('v1', 'ServiceAccount', { automountServiceAccountToken: false }, { name: 'new', namespace: 'ns' }));
admissionTable(new ServiceAccountAdmission(accounts, newAccount), [
  {
    name: 'an account that the informer has not received',
    object: pod({ serviceAccountName: 'new' }),
    want: { spec: { containers, serviceAccountName: 'new', serviceAccount: 'new' } },
  },
  {
    name: 'the default account and its pull secrets',
    object: pod(),
    want: { spec: { containers, serviceAccountName: 'default', serviceAccount: 'default', imagePullSecrets: [{ name: 'pull' }] } },
  },
  {
    name: 'a missing account',
    object: pod({ serviceAccountName: 'none' }),
    denied: /error looking up service account ns\/none: serviceaccount "none" not found/,
  },
  {
    name: 'an unlisted secret of a restricted account, in a volume',
    object: pod({ serviceAccountName: 'strict', volumes: [{ name: 'v', secret: { secretName: 'foreign' } }] }),
    denied: /volume with secret.secretName="foreign" is not allowed/,
  },
  {
    name: 'an unlisted secret of a restricted account, in an init container',
    object: pod({ serviceAccountName: 'strict', initContainers: [{ name: 'i', envFrom: [{ secretRef: { name: 'foreign' } }] }] }),
    denied: /init container i with envFrom referencing/,
  },
  {
    name: 'a listed secret',
    object: pod({ serviceAccountName: 'strict', volumes: [{ name: 'v', secret: { secretName: 'own' } }] }),
    want: { kind: 'Pod' },
  },
  {
    name: 'an unlisted secret in an ephemeral container',
    subresource: 'ephemeralcontainers',
    oldObject: pod(),
    object: pod({
      serviceAccountName: 'strict',
      ephemeralContainers: [{ name: 'e', env: [{ name: 'K', valueFrom: { secretKeyRef: { name: 'foreign' } } }] }],
    }),
    fails: /^ephemeral container e with envVar K/,
  },
  {
    name: 'an unnamed volume beside the token volume',
    object: pod({ volumes: [{ emptyDir: {} }, { name: 'kube-api-access-here' }], automountServiceAccountToken: true }),
    want: {
      spec: {
        containers: [
          {
            name: 'main',
            volumeMounts: [{ name: 'kube-api-access-here', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }],
          },
        ],
        volumes: [{ emptyDir: {} }, { name: 'kube-api-access-here' }],
        automountServiceAccountToken: true,
        serviceAccountName: 'default',
        serviceAccount: 'default',
        imagePullSecrets: [{ name: 'pull' }],
      },
    },
  },
  {
    name: 'an account name with a path separator',
    object: pod({ serviceAccountName: 'a/b' }),
    denied: /ns\/a\/b: invalid resource name "a\/b": \[may not contain '\/'\]$/,
  },
  {
    name: 'a mirror pod with an account',
    object: pod({ serviceAccountName: 'strict' }, { annotations: mirror }),
    denied: /a mirror pod may not reference service accounts/,
  },
  {
    name: 'a mirror pod with a secret',
    object: pod({ volumes: [{ name: 'v', secret: { secretName: 's' } }] }, { annotations: mirror }),
    denied: /a mirror pod may not reference secrets/,
  },
  {
    name: 'a mirror pod with a secret of a disk volume',
    object: pod({ volumes: [{ name: 'v', iscsi: { secretRef: { name: 's' } } }] }, { annotations: mirror }),
    denied: /a mirror pod may not reference secrets/,
  },
  { name: 'a mirror pod with an unnamed pull secret', object: pod({ imagePullSecrets: [{}] }, { annotations: mirror }) },
]);
