import { AdmissionPlugin, type Attributes, forbidden, type KubeObject } from 'kubenest/sdk';

interface Service extends KubeObject {
  readonly spec?: { readonly externalIPs?: readonly string[] };
}

/**
 * Denies new values in Service.spec.externalIPs; existing addresses may stay (CVE-2020-8554). Upstream:
 * plugin/pkg/admission/network/denyserviceexternalips.
 */
@AdmissionPlugin({ name: 'DenyServiceExternalIPs', match: [{ groups: [''], resources: ['services'], operations: ['CREATE', 'UPDATE'] }] })
export class DenyServiceExternalIPs {
  validate(request: Attributes): void {
    const present = new Set((request.oldObject as Service | undefined)?.spec?.externalIPs);
    const added = (request.object as Service).spec?.externalIPs?.some((ip) => !present.has(ip));
    if (added) throw forbidden(request, 'Use of external IPs is denied by admission control');
  }
}
