import { deny, policy, when } from 'kubenest/sdk';
import { ConfigMap, Pod } from 'kubenest/kinds';

export const frozen = policy(
  { name: 'Frozen', services: ['client'] },
  when(Pod)
    .created()
    .validate(async ({ metadata }, request, { client }) => {
      const frost = client.get(ConfigMap, metadata.namespace ?? '', 'frost');
      // mistake: a promise is always true
      if (frost) deny(request, 'frozen');
    }),
);
