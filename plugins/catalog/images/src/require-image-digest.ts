import { AdmissionPlugin, type Attributes, parseImage, workloads } from 'kubenest/sdk';
import { denyImages } from '../../common/deny.ts';

/** Denies images without a digest: only a digest names one content. */
@AdmissionPlugin({ name: 'RequireImageDigest', match: workloads })
export class RequireImageDigest {
  validate(request: Attributes): void {
    denyImages(request, ({ image }) => (parseImage(image)?.digest === undefined ? `"${image}" has no digest (NAME@sha256:…)` : undefined));
  }
}
