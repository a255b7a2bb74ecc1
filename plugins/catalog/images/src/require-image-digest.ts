import { AdmissionPlugin, type Attributes, parseImage, workloads } from 'kubenest/sdk';
import { denyContainers } from '../../common/deny.ts';

/** Denies images without a digest: only a digest names one content. */
@AdmissionPlugin({ name: 'RequireImageDigest', match: workloads })
export class RequireImageDigest {
  validate(request: Attributes): void {
    denyContainers(request, 'image', ({ container: { image = '' } }) =>
      parseImage(image)?.digest === undefined ? `"${image}" has no digest (NAME@sha256:…)` : undefined,
    );
  }
}
