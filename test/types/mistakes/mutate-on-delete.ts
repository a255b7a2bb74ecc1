import { policy, setLabels, when } from 'kubenest/sdk';
import { Pod } from 'kubenest/kinds';

export const marked = policy(
  'Marked',
  when(Pod)
    .deleted()
    // mistake: a deleted object cannot be changed
    .mutate((pod) => setLabels(pod, { deleted: 'true' })),
);
