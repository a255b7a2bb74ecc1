import { AdmissionPlugin, type Attributes, deny, requestsFor } from 'kubenest/sdk';
import { Pod } from 'kubenest/kinds';

@AdmissionPlugin({ name: 'Frozen', match: [requestsFor(Pod, 'CREATE')] })
export class Frozen {
  validate(request: Attributes<Pod>): void {
    // not found: the compiler lets a promise be ignored; typescript-eslint's no-floating-promises finds it
    this.#check(request);
  }

  async #check(request: Attributes<Pod>): Promise<void> {
    await Promise.resolve();
    deny(request, 'frozen');
  }
}
