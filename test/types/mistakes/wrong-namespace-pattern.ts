import { deny, policy, when } from 'kubenest/sdk';
import { Pod } from 'kubenest/kinds';

export const frozen = policy(
  'Frozen',
  when(Pod)
    .created()
    // mistake: names and regular expressions of namespaces, not a selector
    .inNamespace({ matchLabels: { env: 'prod' } })
    .validate((_, request) => deny(request, 'frozen')),
);
