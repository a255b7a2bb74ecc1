/** Validation of service CIDRs. Upstream: pkg/apis/networking/validation/validation.go. */
import { type FieldError, fieldPath, invalid, required } from '#apimachinery/validation/field';
import { isValidCIDR, parseCIDRSloppy } from '#apimachinery/validation/ip';
import { fieldImmutableError } from '#apimachinery/validation/object-meta';
import { structValue } from '#kubernetes/apis/struct-value';
import type { ServiceCIDR } from '#kubernetes/schema/networking_v1.gen';

const path = fieldPath('spec', 'cidrs');

export function validateServiceCIDR({ spec }: ServiceCIDR): FieldError[] {
  const cidrs = spec?.cidrs ?? [];
  if (cidrs.length === 0) return [required(path, 'at least one CIDR required')];
  if (cidrs.length > 2) return [invalid(path, structValue({ CIDRs: cidrs }), 'may only hold up to 2 values')];
  const errors = cidrs.flatMap((cidr, i) => isValidCIDR(path.index(i), cidr));
  const [first, second] = cidrs.map((cidr) => parseCIDRSloppy(cidr)?.bytes.length);
  if (cidrs.length === 2 && first !== undefined && first === second) {
    errors.push(invalid(path, cidrs, 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64'));
  }
  return errors;
}

/** Validates that the first range does not change; a second one may be added. */
export function validateServiceCIDRUpdate(serviceCidr: ServiceCIDR, old: ServiceCIDR): FieldError[] {
  const cidrs = serviceCidr.spec?.cidrs ?? [];
  const before = old.spec?.cidrs ?? [];
  const isAdded = before.length === 1 && cidrs.length === 2;
  if (cidrs.length !== before.length && !isAdded) return [invalid(path, serviceCidr.spec?.cidrs, fieldImmutableError)];
  const errors = before.flatMap((cidr, i) => (cidr === cidrs[i] ? [] : [invalid(path.index(i), cidrs[i], fieldImmutableError)]));
  return isAdded ? [...errors, ...validateServiceCIDR(serviceCidr)] : errors;
}
