import { BlockList, isIPv6 } from 'node:net';
import { AdmissionPlugin, type Attributes, Configuration, inject } from 'kubenest/sdk';
import { ConfigurationError } from 'kubenest/sdk/configuration';
import type { Service } from 'kubenest/types/core_v1';
import { IsTexts } from '../../common/configuration.ts';
import { denyFor } from '../../common/deny.ts';

export class AllowedExternalIPsConfiguration {
  /** Addresses and CIDR ranges: `192.0.2.7`, `2001:db8::/64`. */
  @IsTexts()
  allowed: string[] = [];
}

/** Denies external addresses of services that are not allowed (CVE-2020-8554). Addresses that a service has already may stay. */
@AdmissionPlugin({
  name: 'AllowedExternalIPs',
  configuration: AllowedExternalIPsConfiguration,
  match: [{ groups: [''], resources: ['services'], operations: ['CREATE', 'UPDATE'] }],
})
export class AllowedExternalIPs {
  readonly #allowed = new BlockList();

  constructor(@inject(Configuration) { allowed }: AllowedExternalIPsConfiguration) {
    for (const [index, text] of allowed.entries()) {
      const [address = '', bits] = text.split('/');
      const family = isIPv6(address) ? 'ipv6' : 'ipv4';
      try {
        if (bits !== undefined && !/^\d+$/.test(bits)) throw new Error('no length of a prefix');
        this.#allowed.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family);
      } catch {
        throw new ConfigurationError([`AllowedExternalIPs.allowed[${index}]: "${text}" is not an address or a CIDR range`]);
      }
    }
  }

  validate(request: Attributes<Service>): void {
    const present = new Set(request.oldObject?.spec?.externalIPs);
    const added = (request.object.spec?.externalIPs ?? []).filter((ip) => !present.has(ip));
    const wrong = added.filter((ip) => !this.#allowed.check(ip, isIPv6(ip) ? 'ipv6' : 'ipv4'));
    denyFor(
      request,
      wrong.map((ip) => `spec.externalIPs: ${ip} is not allowed`),
    );
  }
}
