import { AdmissionPlugin, type Attributes } from 'kubenest/sdk';
import type { Ingress } from 'kubenest/types/networking_v1';
import { denyFor } from '../../common/deny.ts';
import { ingresses } from './ingresses.ts';

/** Denies ingresses for all hosts (an empty host, a default backend) or for all names of a domain (`*.example.com`). */
@AdmissionPlugin({ name: 'DisallowWildcardHosts', match: ingresses })
export class DisallowWildcardHosts {
  validate(request: Attributes<Ingress>): void {
    const { rules = [], defaultBackend } = request.object.spec ?? {};
    const problems = rules.flatMap(({ host = '' }, index) => {
      if (host !== '' && !host.includes('*')) return [];
      return [`spec.rules[${index}].host: ${host === '' ? 'required' : `"${host}" has a wildcard`}`];
    });
    denyFor(request, defaultBackend ? ['spec.defaultBackend: serves all other hosts', ...problems] : problems);
  }
}
