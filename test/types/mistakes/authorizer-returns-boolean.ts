import { AuthorizerPlugin } from 'kubenest/sdk';

// mistake: true is no decision
@AuthorizerPlugin({ name: 'Gate' })
export class Gate {
  authorize(): boolean {
    return true;
  }
}
