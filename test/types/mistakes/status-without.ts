import { deny, policy, when } from 'kubenest/sdk';
import { ConfigMap } from 'kubenest/kinds';

export const frozen = policy(
  'Frozen',
  when(ConfigMap)
    // mistake: a ConfigMap has no status
    .subresource('status')
    .updated()
    .validate((_, request) => deny(request, 'frozen')),
);
