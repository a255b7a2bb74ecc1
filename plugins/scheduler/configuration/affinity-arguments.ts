import { IsArray, IsIn, IsInt, IsOptional, IsString, Matches, Max, Min, Type, ValidateNested } from 'kubenest/sdk/configuration';

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'];

class Requirement {
  @Matches(/./, { message: 'key must be set' })
  key = '';

  @IsIn(operators)
  operator = '';

  @IsArray()
  @IsString({ each: true })
  values: string[] = [];
}

class Term {
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => Requirement)
  matchExpressions: Requirement[] = [];

  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => Requirement)
  matchFields: Requirement[] = [];
}

class PreferredTerm {
  @IsInt()
  @Min(1)
  @Max(100)
  weight = 0;

  @ValidateNested()
  @Type(() => Term)
  preference = new Term();
}

class Selector {
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => Term)
  nodeSelectorTerms: Term[] = [];
}

/** Affinity to nodes that a profile adds to that of each of its pods. */
export class AddedAffinity {
  @IsOptional()
  @ValidateNested()
  @Type(() => Selector)
  requiredDuringSchedulingIgnoredDuringExecution?: Selector;

  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => PreferredTerm)
  preferredDuringSchedulingIgnoredDuringExecution: PreferredTerm[] = [];
}

/** Describes the requirements that no node can be compared with. Upstream: component-helpers/scheduling/corev1/nodeaffinity. */
export function problemsOfAffinity(affinity: AddedAffinity, place: string): string[] {
  const { requiredDuringSchedulingIgnoredDuringExecution: required, preferredDuringSchedulingIgnoredDuringExecution: preferred } = affinity;
  const at = `${place}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
  const terms = required?.nodeSelectorTerms.map((term, i) => [term, `${at}[${i}]`] as const) ?? [];
  const preferences = preferred.map(
    ({ preference }, i) => [preference, `${place}.preferredDuringSchedulingIgnoredDuringExecution[${i}].preference`] as const,
  );
  const none = required?.nodeSelectorTerms.length === 0 ? [`${at}: at least one is required`] : [];
  return [...none, ...[...terms, ...preferences].flatMap(([term, here]) => problemsOfTerm(term, here))];
}

function problemsOfTerm({ matchExpressions, matchFields }: Term, place: string): string[] {
  return [
    ...matchExpressions.flatMap((one, i) => problemOf(one, `${place}.matchExpressions[${i}]`)),
    ...matchFields.flatMap((one, i) => {
      const here = `${place}.matchFields[${i}]`;
      if (one.key !== 'metadata.name') return [`${here}.key: ${JSON.stringify(one.key)} is not a field of nodes that can be selected`];
      const isOne = (one.operator === 'In' || one.operator === 'NotIn') && one.values.length === 1;
      return isOne ? [] : [`${here}: must be In or NotIn with one value`];
    }),
  ];
}

function problemOf({ operator, values }: Requirement, place: string): string[] {
  const here = `${place}.values`;
  if (operator === 'In' || operator === 'NotIn')
    return values.length > 0 ? [] : [`${here}: for 'in', 'notin' operators, values set can't be empty`];
  if (operator === 'Exists' || operator === 'DoesNotExist')
    return values.length === 0 ? [] : [`${here}: values set must be empty for exists and does not exist`];
  return values.length === 1 && /^[+-]?\d+$/.test(values[0] as string)
    ? []
    : [`${here}: for 'Gt', 'Lt' operators, exactly one value is required, an integer`];
}
