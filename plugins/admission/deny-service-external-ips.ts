import { AdmissionPlugin, type Attributes, forbidden } from 'kubenest/sdk';
import type { Service } from 'kubenest/kinds';

/**
 * Denies new values in Service.spec.externalIPs; existing addresses may stay (CVE-2020-8554). Upstream:
 * plugin/pkg/admission/network/denyserviceexternalips.
 */
@AdmissionPlugin({ name: 'DenyServiceExternalIPs', match: [{ groups: [''], resources: ['services'], operations: ['CREATE', 'UPDATE'] }] })
export class DenyServiceExternalIPs {
  validate(request: Attributes<Service>): void {
    const present = new Set(request.oldObject?.spec?.externalIPs);
    const added = request.object.spec?.externalIPs?.some((ip) => !present.has(ip));
    if (added) throw forbidden(request, 'Use of external IPs is denied by admission control');
  }
}
