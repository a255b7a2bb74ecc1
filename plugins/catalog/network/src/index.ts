import { contribute } from 'kubenest/sdk';
import { AllowedExternalIPs } from './allowed-external-ips.ts';
import { AllowedServiceTypes } from './allowed-service-types.ts';
import { DisallowWildcardHosts } from './disallow-wildcard-hosts.ts';
import { RequireIngressTls } from './require-ingress-tls.ts';
import { UniqueIngressHosts } from './unique-ingress-hosts.ts';
import { UniqueServiceSelectors } from './unique-service-selectors.ts';

export default contribute(
  AllowedExternalIPs,
  AllowedServiceTypes,
  DisallowWildcardHosts,
  RequireIngressTls,
  UniqueIngressHosts,
  UniqueServiceSelectors,
);
