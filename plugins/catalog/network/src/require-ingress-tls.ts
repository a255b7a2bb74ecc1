import { AdmissionPlugin, annotationOf, type Attributes, Configuration, inject } from 'kubenest/sdk';
import { IsBoolean } from 'kubenest/sdk/configuration';
import type { Ingress, IngressTLS } from 'kubenest/types/networking_v1';
import { denyFor } from '../../common/deny.ts';
import { hostsOf, ingresses } from './ingresses.ts';

const allowHttp = 'kubernetes.io/ingress.allow-http';

export class RequireIngressTlsConfiguration {
  /** True if an entry of `spec.tls` without hosts, for which the controller has a default certificate, covers all hosts. */
  @IsBoolean()
  allowDefaultCertificate = false;

  /** True if the annotation `kubernetes.io/ingress.allow-http` must be `"false"`, by which some controllers close the port of HTTP. */
  @IsBoolean()
  disallowHttp = false;
}

/** Denies ingresses with a host that `spec.tls` does not cover, and default backends, which serve any other host. */
@AdmissionPlugin({ name: 'RequireIngressTls', configuration: RequireIngressTlsConfiguration, match: ingresses })
export class RequireIngressTls {
  constructor(@inject(Configuration) private readonly configuration: RequireIngressTlsConfiguration) {}

  validate(request: Attributes<Ingress>): void {
    const tls = request.object.spec?.tls ?? [];
    const problems: string[] = [];
    if (this.configuration.disallowHttp && annotationOf(request.object, allowHttp) !== 'false')
      problems.push(`metadata.annotations[${allowHttp}]: must be "false"`);
    if (!this.configuration.allowDefaultCertificate || tls.every(({ hosts = [] }) => hosts.length > 0))
      problems.push(...uncovered(request.object, tls));
    denyFor(request, problems);
  }
}

/** Returns the problems of the hosts that the entries do not cover. */
function uncovered(ingress: Ingress, tls: readonly IngressTLS[]): string[] {
  const covered = new Set(tls.flatMap(({ hosts = [] }) => hosts));
  const hosts = hostsOf(ingress).filter((host) => !covered.has(host) && !covered.has(host.replace(/^[^.]*/, '*')));
  const problems = hosts.map((host) => `spec.tls: missing host ${host || '*'}`);
  if (ingress.spec?.defaultBackend) problems.unshift('spec.defaultBackend: serves hosts that spec.tls does not cover');
  return problems;
}
