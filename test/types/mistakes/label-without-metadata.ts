import { deny, policy, when } from 'kubenest/sdk';
import { Pod } from 'kubenest/kinds';

export const noShell = policy(
  'NoShell',
  when(Pod)
    .subresource('exec')
    .connected()
    // mistake: options of a connection have no labels
    .withLabel('team')
    .validate((_, request) => deny(request, 'no shell')),
);
