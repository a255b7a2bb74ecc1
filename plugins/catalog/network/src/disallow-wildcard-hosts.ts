import { AdmissionPlugin, type Attributes, Configuration, inject } from 'kubenest/sdk';
import { IsBoolean } from 'kubenest/sdk/configuration';
import type { Ingress } from 'kubenest/types/networking_v1';
import { denyFor } from '../../common/deny.ts';
import { ingresses } from './ingresses.ts';

export class DisallowWildcardHostsConfiguration {
  /** Admits a default backend, which serves the hosts that no rule has. */
  @IsBoolean()
  allowDefaultBackend = false;
}

/** Denies ingresses for all hosts (an empty host, a default backend) or for all names of a domain (`*.example.com`). */
@AdmissionPlugin({ name: 'DisallowWildcardHosts', configuration: DisallowWildcardHostsConfiguration, match: ingresses })
export class DisallowWildcardHosts {
  constructor(@inject(Configuration) private readonly configuration: DisallowWildcardHostsConfiguration) {}

  validate(request: Attributes<Ingress>): void {
    const { rules = [], defaultBackend } = request.object.spec ?? {};
    const problems = rules.flatMap(({ host = '' }, index) => {
      if (host !== '' && !host.includes('*')) return [];
      return [`spec.rules[${index}].host: ${host === '' ? 'required' : `"${host}" has a wildcard`}`];
    });
    denyFor(
      request,
      defaultBackend && !this.configuration.allowDefaultBackend ? ['spec.defaultBackend: serves all other hosts', ...problems] : problems,
    );
  }
}
