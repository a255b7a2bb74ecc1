import { AdmissionPlugin, type Attributes, forbidden, requestsFor } from 'kubenest/sdk';
import { Pod } from 'kubenest/kinds';

@AdmissionPlugin({ name: 'Frozen', match: [requestsFor(Pod, 'CREATE')] })
export class Frozen {
  validate(request: Attributes<Pod>): void {
    // not found: the compiler lets every result be ignored, as an error that is not thrown; `deny` has no result to ignore
    forbidden(request, 'frozen');
  }
}
