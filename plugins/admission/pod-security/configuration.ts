import { ArrayUnique, Expose, IsIn, IsNotEmpty, IsOptional, IsString, Matches, Type, ValidateNested } from 'kubenest/sdk/configuration';
import { type Mode, type Policy, parseLevel, parseVersion } from './level.ts';

const levels = ['privileged', 'baseline', 'restricted'];
const isLevel = { message: `must be one of ${levels.join(', ')}` };
const version = /^(latest|v1\.(0|[1-9][0-9]*))$/;
const isVersion = { message: 'must be "latest" or "v1.x"' };

/** Policy of namespaces without labels. */
export class PodSecurityDefaults {
  @IsOptional() @IsIn(levels, isLevel) enforce = 'privileged';
  @Expose({ name: 'enforce-version' })
  @IsOptional()
  @Matches(version, isVersion)
  enforceVersion = 'latest';
  @IsOptional() @IsIn(levels, isLevel) audit = 'privileged';
  @Expose({ name: 'audit-version' })
  @IsOptional()
  @Matches(version, isVersion)
  auditVersion = 'latest';
  @IsOptional() @IsIn(levels, isLevel) warn = 'privileged';
  @Expose({ name: 'warn-version' })
  @IsOptional()
  @Matches(version, isVersion)
  warnVersion = 'latest';
}

const label = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const namespaceName = new RegExp(`^(?=.{1,63}$)${label}$`);
const runtimeClassName = new RegExp(`^(?=.{1,253}$)${label}(?:\\.${label})*$`);
const once = { message: 'must not repeat an element' };

/** Exempt users, namespaces and runtime classes. Upstream: pod-security-admission/admission/api/validation. */
export class PodSecurityExemptions {
  @IsOptional()
  @IsString({ each: true })
  @IsNotEmpty({ each: true, message: 'must not hold empty names' })
  @ArrayUnique(once)
  usernames: readonly string[] = [];

  @IsOptional()
  @Matches(namespaceName, { each: true, message: 'must be names of namespaces' })
  @ArrayUnique(once)
  namespaces: readonly string[] = [];

  @IsOptional()
  @Matches(runtimeClassName, { each: true, message: 'must be names of runtime classes' })
  @ArrayUnique(once)
  runtimeClasses: readonly string[] = [];
}

/** Configuration of PodSecurity. Upstream: pod-security-admission/admission/api (PodSecurityConfiguration). */
export class PodSecurityConfiguration {
  static readonly kinds = ['v1', 'v1beta1', 'v1alpha1'].map(
    (version) => `pod-security.admission.config.k8s.io/${version}, PodSecurityConfiguration`,
  );

  @IsOptional()
  @ValidateNested()
  @Type(() => PodSecurityDefaults)
  defaults: Partial<PodSecurityDefaults> = new PodSecurityDefaults();

  @IsOptional()
  @ValidateNested()
  @Type(() => PodSecurityExemptions)
  exemptions: Partial<PodSecurityExemptions> = new PodSecurityExemptions();
}

export function defaultPolicyOf({ defaults }: PodSecurityConfiguration): Policy {
  const modeOf = (mode: Mode) => ({
    level: parseLevel(defaults[mode] ?? 'privileged'),
    version: parseVersion(defaults[`${mode}Version`] ?? 'latest'),
  });
  return { enforce: modeOf('enforce'), audit: modeOf('audit'), warn: modeOf('warn') };
}
