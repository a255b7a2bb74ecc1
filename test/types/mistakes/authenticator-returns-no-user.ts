import { AuthenticatorPlugin } from 'kubenest/sdk';

// mistake: a user has a name and groups
@AuthenticatorPlugin({ name: 'Keys' })
export class Keys {
  authenticate(): object {
    return { user: 'jane' };
  }
}
