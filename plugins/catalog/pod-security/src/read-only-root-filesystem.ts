import { AdmissionPlugin, type Attributes, workloads } from 'kubenest/sdk';
import { denyContainers } from '../../common/deny.ts';

/** Denies containers that can write to their root file system. */
@AdmissionPlugin({ name: 'RequireReadOnlyRootFilesystem', match: workloads })
export class RequireReadOnlyRootFilesystem {
  validate(request: Attributes): void {
    denyContainers(request, 'securityContext.readOnlyRootFilesystem', ({ container: { securityContext } }) =>
      securityContext?.readOnlyRootFilesystem === true ? undefined : 'must be true',
    );
  }
}
