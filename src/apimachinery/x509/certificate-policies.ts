import type { Certificate } from './certificate.ts';

/** The encoding of `2.5.29.32.0`, in hex. */
const anyPolicy = '551d2000';

/** A policy that is valid at one depth of a path, and the policies of the next depth that it leads to. */
interface PolicyNode {
  readonly policy: string;
  expected: ReadonlySet<string>;
  readonly parents: readonly PolicyNode[];
}

type Level = Map<string, PolicyNode>;

/**
 * True if a path, from leaf to trust anchor, satisfies its own policy constraints. The caller requires no policy: every policy is
 * acceptable, and only certificates on the path can require one. RFC 5280, section 6.1, with the policy graph of RFC 9618. Upstream:
 * crypto/x509/verify.go (policiesValid).
 */
export function arePoliciesValid(path: readonly Certificate[]): boolean {
  const anchorAt = path.length - 1;
  if (anchorAt === 0) return true;
  let levels: Level[] | undefined = [new Map([[anyPolicy, { policy: anyPolicy, expected: new Set([anyPolicy]), parents: [] }]])];
  const left = { explicit: anchorAt + 1, mapping: anchorAt + 1, any: anchorAt + 1 };
  for (let at = anchorAt - 1; at >= 0; at--) {
    const certificate = path[at] as Certificate;
    const isSelfIssued = certificate.issuer.der.equals(certificate.subject.der);
    if (certificate.policies.length === 0) levels = undefined;
    if (left.explicit === 0 && levels === undefined) return false;
    if (levels) {
      levels.push(nextLevel(certificate, levels, left.any > 0 || (at > 0 && isSelfIssued)));
      prune(levels);
      if (at > 0 && !applyMappings(certificate, levels, left.mapping > 0)) return false;
    }
    if (at > 0) countDown(left, certificate, isSelfIssued);
  }
  if (left.explicit > 0) left.explicit--;
  if (path[0]?.requireExplicitPolicy === 0) left.explicit = 0;
  return left.explicit > 0 || (levels !== undefined && (levels.at(-1)?.size ?? 0) > 0);
}

/** Returns the policies of a certificate that follow from those of its issuer. */
function nextLevel({ policies }: Certificate, levels: readonly Level[], allowsAny: boolean): Level {
  const parents = [...(levels.at(-1)?.values() ?? [])];
  const level: Level = new Map();
  const add = (policy: string, from: readonly PolicyNode[]): void => {
    level.set(policy, { policy, expected: new Set([policy]), parents: from });
  };
  for (const policy of policies) {
    if (policy === anyPolicy) continue;
    const expecting = parents.filter(({ expected }) => expected.has(policy));
    const from = expecting.length > 0 ? expecting : parents.filter((parent) => parent.policy === anyPolicy);
    if (from.length > 0) add(policy, from);
  }
  if (!policies.includes(anyPolicy) || !allowsAny) return level;
  const missing = new Set(parents.flatMap(({ expected }) => [...expected]).filter((policy) => !level.has(policy)));
  for (const policy of missing)
    add(
      policy,
      parents.filter(({ expected }) => expected.has(policy)),
    );
  return level;
}

/** Removes nodes without a descendant in the last level. */
function prune(levels: Level[]): void {
  for (let at = levels.length - 2; at >= 0; at--) {
    const continued = new Set([...(levels[at + 1]?.values() ?? [])].flatMap(({ parents }) => parents));
    for (const [policy, node] of levels[at] as Level) if (!continued.has(node)) levels[at]?.delete(policy);
  }
}

/** Returns false for a mapping that is not allowed. */
function applyMappings({ policyMappings }: Certificate, levels: Level[], allowsMapping: boolean): boolean {
  const level = levels.at(-1) as Level;
  const mapped = new Map<string, Set<string>>();
  for (const { issuer, subject } of policyMappings) {
    if (!allowsMapping) {
      level.delete(issuer);
      continue;
    }
    if (issuer === anyPolicy || subject === anyPolicy) return false;
    mapped.set(issuer, (mapped.get(issuer) ?? new Set()).add(subject));
  }
  if (policyMappings.length > 0) prune(levels);
  for (const [issuer, subjects] of mapped) {
    const node = level.get(issuer);
    const any = level.get(anyPolicy);
    if (node) node.expected = subjects;
    else if (any) level.set(issuer, { policy: issuer, expected: subjects, parents: [any] });
  }
  return true;
}

/** Decrements the counters of certificates until a rule applies: 6.1.4 (h) to (j). */
function countDown(left: { explicit: number; mapping: number; any: number }, certificate: Certificate, isSelfIssued: boolean): void {
  if (!isSelfIssued) for (const counter of ['explicit', 'mapping', 'any'] as const) left[counter] = Math.max(left[counter] - 1, 0);
  left.explicit = Math.min(left.explicit, certificate.requireExplicitPolicy ?? left.explicit);
  left.mapping = Math.min(left.mapping, certificate.inhibitPolicyMapping ?? left.mapping);
  left.any = Math.min(left.any, certificate.inhibitAnyPolicy ?? left.any);
}
