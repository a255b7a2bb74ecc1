import { AdmissionPlugin, type Attributes, Client, deny, Informers, inject } from 'kubenest/sdk';
import { ControlledObjects, isMirror } from './controlled-objects.ts';

/**
 * Denies pods without a controller, which nothing replaces when their node fails. Controllers of custom resources that create pods by
 * themselves need an exception.
 */
@AdmissionPlugin({ name: 'DisallowBarePods', match: [{ groups: [''], resources: ['pods'], operations: ['CREATE'] }] })
export class DisallowBarePods {
  readonly #controlled: ControlledObjects;

  constructor(@inject(Informers) informers: Informers, @inject(Client) client: Client) {
    this.#controlled = new ControlledObjects(informers, client);
  }

  validate(request: Attributes): void | Promise<void> {
    if (isMirror(request)) return;
    const found = this.#controlled.isControlled(request);
    return found instanceof Promise ? found.then((isControlled) => decide(request, isControlled)) : decide(request, found);
  }
}

function decide(request: Attributes, isControlled: boolean): void {
  if (!isControlled) deny(request, 'the pod has no controller: create a Deployment, Job or another workload instead');
}
