import { Controller } from 'kubenest/sdk';
import { Pod } from 'kubenest/kinds';

// mistake: `reconcile` gets a request with namespace and name
@Controller({ name: 'labels', for: Pod })
export class Labels {
  async reconcile(name: string): Promise<void> {
    await Promise.resolve(name);
  }
}
