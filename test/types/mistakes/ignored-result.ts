import { AdmissionPlugin, requestsFor } from 'kubenest/sdk';
import type { Attributes } from 'kubenest/sdk';
import { Pod } from 'kubenest/kinds';

// mistake: the result of `validate` denies nothing
@AdmissionPlugin({ name: 'NoHostNetwork', match: [requestsFor(Pod, 'CREATE')] })
export class NoHostNetwork {
  validate({ object }: Attributes<Pod>): boolean {
    return object.spec.hostNetwork !== true;
  }
}
