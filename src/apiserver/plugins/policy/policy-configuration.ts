import 'reflect-metadata';
import { Type } from 'class-transformer';
import { ArrayNotEmpty, IsArray, IsIn, IsNotEmpty, IsObject, IsOptional, IsString, ValidateBy, ValidateNested } from 'class-validator';
import type { LabelSelectorSource } from '#apimachinery/labels/selector';

/**
 * Effect of a plugin's denial:
 *
 * | mode      | denial                          | changes of `admit` |
 * | --------- | ------------------------------- | ------------------ |
 * | `enforce` | denies the request              | applied            |
 * | `warn`    | warning in the response         | dropped            |
 * | `audit`   | annotation of the audit event   | dropped            |
 */
export type PolicyMode = 'enforce' | 'warn' | 'audit';

export const policyModes: readonly PolicyMode[] = ['enforce', 'warn', 'audit'];

/**
 * Declares an optional list of names, in which `*` stands for any text. A list that selects must not be empty: nothing would match, and a
 * policy would be off silently.
 */
function Patterns({ mayBeEmpty = false } = {}): PropertyDecorator {
  return (target, property) => {
    if (!mayBeEmpty) ArrayNotEmpty()(target, property as string);
    IsOptional()(target, property as string);
    IsArray()(target, property as string);
    IsString({ each: true })(target, property as string);
    IsNotEmpty({ each: true })(target, property as string);
  };
}

/** Declares an RFC 3339 time or date, as a text or as the Date of an unquoted YAML value. */
function IsTime(): PropertyDecorator {
  const pattern = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))?$/;
  const isTime = (value: unknown): boolean =>
    value instanceof Date
      ? !Number.isNaN(value.getTime())
      : typeof value === 'string' && pattern.test(value) && !Number.isNaN(Date.parse(value));
  return ValidateBy({
    name: 'isTime',
    validator: { validate: isTime, defaultMessage: () => 'must be an RFC 3339 time such as 2027-01-31T00:00:00Z' },
  });
}

/** Requests to which a plugin's policy or an exception applies. All given members must match; `users` and `groups` are alternatives. */
class Selection {
  @Patterns()
  namespaces?: string[];

  @IsOptional()
  @IsObject()
  objectSelector?: LabelSelectorSource;

  @Patterns()
  users?: string[];

  @Patterns()
  groups?: string[];
}

/** `scope` of a policy. */
export class ScopeConfiguration extends Selection {
  @Patterns({ mayBeEmpty: true })
  excludedNamespaces?: string[];

  @IsOptional()
  @IsObject()
  namespaceSelector?: LabelSelectorSource;

  @Patterns({ mayBeEmpty: true })
  excludedUsers?: string[];

  @Patterns({ mayBeEmpty: true })
  excludedGroups?: string[];
}

/** An item of `exceptions` of a policy. */
export class ExceptionConfiguration extends Selection {
  @IsString()
  @IsNotEmpty()
  reason = '';

  @Patterns()
  names?: string[];

  /** A CEL expression with the variables of match conditions: `object`, `oldObject` and `request`. */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  expression?: string;

  @IsOptional()
  @IsTime()
  expires?: string | Date;
}

/** A member of `policies` of a plugin package. */
export class PolicyConfiguration {
  @IsIn(policyModes)
  mode: PolicyMode = 'enforce';

  @IsOptional()
  @ValidateNested()
  @Type(() => ScopeConfiguration)
  scope?: ScopeConfiguration;

  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => ExceptionConfiguration)
  exceptions: ExceptionConfiguration[] = [];
}
