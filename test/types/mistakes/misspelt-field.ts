import { deny, policy, when } from 'kubenest/sdk';
import { Pod } from 'kubenest/kinds';

export const noHostNetwork = policy(
  'NoHostNetwork',
  when(Pod)
    .created()
    .validate((pod, request) => {
      // mistake: the field is hostNetwork
      if (pod.spec.hostNetwrok) deny(request, 'pods have no host network');
    }),
);
