import { AdmissionPlugin, type Attributes, Configuration, inject } from 'kubenest/sdk';
import { IsBoolean } from 'kubenest/sdk/configuration';
import type { Ingress } from 'kubenest/types/networking_v1';
import { denyFor } from '../../common/deny.ts';
import { hostsOf, ingresses } from './ingresses.ts';

export class RequireIngressTlsConfiguration {
  /** True if an entry of `spec.tls` without hosts, for which the controller has a default certificate, covers all hosts. */
  @IsBoolean()
  allowDefaultCertificate = false;
}

/** Denies ingresses with a host that `spec.tls` does not cover, and default backends, which serve any other host. */
@AdmissionPlugin({ name: 'RequireIngressTls', configuration: RequireIngressTlsConfiguration, match: ingresses })
export class RequireIngressTls {
  constructor(@inject(Configuration) private readonly configuration: RequireIngressTlsConfiguration) {}

  validate(request: Attributes<Ingress>): void {
    const tls = request.object.spec?.tls ?? [];
    if (this.configuration.allowDefaultCertificate && tls.some(({ hosts = [] }) => hosts.length === 0)) return;
    const covered = new Set(tls.flatMap(({ hosts = [] }) => hosts));
    const hosts = hostsOf(request.object).filter((host) => !covered.has(host) && !covered.has(host.replace(/^[^.]*/, '*')));
    const problems = hosts.map((host) => `spec.tls: missing host ${host || '*'}`);
    if (request.object.spec?.defaultBackend) problems.unshift('spec.defaultBackend: serves hosts that spec.tls does not cover');
    denyFor(request, problems);
  }
}
