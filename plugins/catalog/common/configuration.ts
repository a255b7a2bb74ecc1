import { ArrayNotEmpty, ArrayUnique, ConfigurationError, IsArray, IsNotEmpty, IsOptional, IsString } from 'kubenest/sdk/configuration';

/** Decorates a member that is a list of different, not empty texts. */
export function IsTexts(): PropertyDecorator {
  return all(IsArray(), ArrayUnique(), IsString({ each: true }), IsNotEmpty({ each: true }));
}

/** Like `IsTexts`, for a list that has at least one item. */
export function IsSomeTexts(): PropertyDecorator {
  return all(IsTexts(), ArrayNotEmpty());
}

/** Decorates a member that is an optional text. */
export function IsOptionalText(): PropertyDecorator {
  return all(IsOptional(), IsString(), IsNotEmpty());
}

function all(...decorators: readonly PropertyDecorator[]): PropertyDecorator {
  return (target, key) => {
    for (const decorate of decorators) decorate(target, key);
  };
}

/** A required label or annotation. */
export class RequiredEntry {
  @IsString()
  @IsNotEmpty()
  key = '';
  /** Regular expression that the whole value must match; undefined: any value. */
  @IsOptionalText()
  pattern?: string;
}

/** Returns the problems of labels or annotations that `read` reads. With `isPartial`, absent ones are no problem. */
export type EntryCheck = (read: (key: string) => string | undefined, isPartial?: boolean) => string[];

/**
 * Returns a check of required labels or annotations. `sort` is part of its messages. Throws a ConfigurationError for an invalid pattern.
 */
export function entryCheckOf(sort: 'label' | 'annotation', entries: readonly RequiredEntry[]): EntryCheck {
  const compiled = entries.map(({ key, pattern }) => ({ key, pattern, form: pattern === undefined ? undefined : formOf(key, pattern) }));
  return (read, isPartial = false) =>
    compiled.flatMap(({ key, pattern, form }) => {
      const value = read(key);
      if (value === undefined) return isPartial ? [] : [`missing ${sort} ${key}`];
      return form && !form.test(value) ? [`${sort} ${key} is "${value}", which does not match ${pattern}`] : [];
    });
}

/** Compiles a pattern that matches whole values of a key. Throws a ConfigurationError for an invalid one. */
export function formOf(key: string, pattern: string): RegExp {
  try {
    return new RegExp(`^(?:${pattern})$`, 'u');
  } catch (error) {
    throw new ConfigurationError([`pattern of ${key}: ${(error as Error).message}`]);
  }
}
