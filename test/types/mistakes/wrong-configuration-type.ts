import { deny, policy, when } from 'kubenest/sdk';
import { Pod } from 'kubenest/kinds';

class Limits {
  most = 10;
}

export const fewContainers = policy(
  { name: 'FewContainers', configuration: Limits },
  when(Pod)
    .created()
    .validate((pod, request, { configuration }) => {
      // mistake: `most` is a number
      if (pod.spec.containers.length > configuration.most.length) deny(request, 'too many');
    }),
);
