import { AdmissionPlugin, type Attributes, deny, requestsFor } from 'kubenest/sdk';
import { Deployment, type Pod } from 'kubenest/kinds';

// mistake: the requests are for Deployments
@AdmissionPlugin({ name: 'FewContainers', match: [requestsFor(Deployment, 'CREATE')] })
export class FewContainers {
  validate(request: Attributes<Pod>): void {
    if (request.object.spec.containers.length > 3) deny(request, 'too many');
  }
}
