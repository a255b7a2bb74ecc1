import { AdmissionPlugin, annotationOf, type Attributes, deny } from 'kubenest/sdk';

/** Annotation of pods that a kubelet mirrors from its own files. */
const mirror = 'kubernetes.io/config.mirror';

/** Denies pods without a controller, which nothing replaces when their node fails. */
@AdmissionPlugin({ name: 'DisallowBarePods', match: [{ groups: [''], resources: ['pods'], operations: ['CREATE'] }] })
export class DisallowBarePods {
  validate(request: Attributes): void {
    const { object } = request;
    const isControlled = (object.metadata.ownerReferences ?? []).some(({ controller }) => controller);
    if (!isControlled && annotationOf(object, mirror) === undefined)
      deny(request, 'the pod has no controller: create a Deployment, Job or another workload instead');
  }
}
