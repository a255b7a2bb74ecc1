import { PostStartHookPlugin } from 'kubenest/sdk';

// mistake: the method is `run`
@PostStartHookPlugin({ name: 'Begin' })
export class Begin {
  start(): void {}
}
