import { type FieldError, forbidden, invalid, notSupported, required } from '#apimachinery/validation/field';
import { type AuditLevel, type AuditStage, auditLevels, auditStages } from '#apiserver/audit/event';
import type { AuditPolicy, AuditPolicyRule } from '#apiserver/audit/policy';
import { FieldReader, parseStructured } from './structured-file.ts';

/**
 * Parses the file of `--audit-policy-file`, of kind Policy. Throws with all problems, one per line. Upstream:
 * apiserver/pkg/apis/audit/validation/validation.go.
 */
export function parseAuditPolicy(text: string): AuditPolicy {
  const errors: FieldError[] = [];
  const root = new FieldReader(parseStructured(text, 'audit.k8s.io', 'Policy', ['v1']), undefined, errors);
  root.object('metadata');
  const policy = {
    omitStages: readStages(root, errors),
    omitManagedFields: root.flag('omitManagedFields', false),
    rules: root.objects('rules').map((rule) => readRule(rule, errors)),
  };
  root.done();
  if (policy.rules.length === 0) errors.push(required(root.at('rules'), 'a policy without rules audits nothing'));
  if (errors.length > 0) throw new Error(errors.map(String).join('\n'));
  return policy;
}

function readRule(rule: FieldReader, errors: FieldError[]): AuditPolicyRule {
  const level = rule.requiredText('level');
  if (level !== '' && !(auditLevels as readonly string[]).includes(level)) errors.push(notSupported(rule.at('level'), level, auditLevels));
  const resources = rule.objects('resources').map((one) => {
    const read = { group: one.text('group'), resources: one.texts('resources'), resourceNames: one.texts('resourceNames') };
    if (read.group !== '' && !/^[a-z0-9.*-]+$/.test(read.group))
      errors.push(invalid(one.at('group'), read.group, 'must be the name of an API group, or *'));
    if (read.resourceNames.length > 0 && read.resources.length === 0)
      errors.push(invalid(one.at('resourceNames'), read.resourceNames, 'using resourceNames requires at least one resource'));
    one.done();
    return read;
  });
  const read = {
    level: level as AuditLevel,
    users: rule.texts('users'),
    userGroups: rule.texts('userGroups'),
    verbs: rule.texts('verbs'),
    resources,
    namespaces: rule.texts('namespaces'),
    nonResourceURLs: rule.texts('nonResourceURLs'),
    omitStages: readStages(rule, errors),
    omitManagedFields: rule.has('omitManagedFields') ? rule.flag('omitManagedFields', false) : undefined,
  };
  if (read.nonResourceURLs.length > 0 && (read.resources.length > 0 || read.namespaces.length > 0))
    errors.push(
      invalid(rule.at('nonResourceURLs'), read.nonResourceURLs, 'rules cannot apply to both regular resources and non-resource URLs'),
    );
  for (const [i, url] of read.nonResourceURLs.entries()) {
    const path = rule.at('nonResourceURLs').index(i);
    if (url !== '*' && !url.startsWith('/')) errors.push(invalid(path, url, 'non-resource URL rules must begin with a "/" character'));
    if (url !== '*' && url.slice(0, -1).includes('*'))
      errors.push(invalid(path, url, 'non-resource URL wildcards must be the final character of the rule'));
  }
  if (read.verbs.includes('')) errors.push(forbidden(rule.at('verbs'), 'must not be empty'));
  rule.done();
  return read;
}

function readStages(reader: FieldReader, errors: FieldError[]): AuditStage[] {
  return reader.texts('omitStages').map((stage, i) => {
    if (!(auditStages as readonly string[]).includes(stage))
      errors.push(notSupported(reader.at('omitStages').index(i), stage, auditStages));
    return stage as AuditStage;
  });
}
