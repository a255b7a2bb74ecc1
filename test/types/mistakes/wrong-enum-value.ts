import { policy, when } from 'kubenest/sdk';
import { Pod } from 'kubenest/kinds';

export const alwaysPull = policy(
  'AlwaysPull',
  when(Pod)
    .created()
    .mutate((pod) => {
      for (const container of pod.spec?.containers ?? []) {
        // mistake: the value is Always
        container.imagePullPolicy = 'always';
      }
    }),
);
