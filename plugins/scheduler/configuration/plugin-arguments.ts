import {
  ConfigurationError,
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  Type,
  ValidateNested,
} from 'kubenest/sdk/configuration';
import { readConfiguration } from '#sdk/internal';
import type { FilterArguments } from '../filters.ts';
import type { ScoreArguments } from '../scores.ts';
import {
  cpuAndMemory,
  leastAllocated,
  mostAllocated,
  requestedToCapacityRatio,
  type ScoringStrategy,
} from '../scores/node-resources-fit.ts';
import { AddedAffinity, problemsOfAffinity } from './affinity-arguments.ts';
import type { PluginArguments } from './scheduler-configuration.ts';

class ResourceSpec {
  @IsString()
  name = '';

  @IsInt()
  @Min(1, { message: 'weight must be in the range (0, 100]' })
  @Max(100, { message: 'weight must be in the range (0, 100]' })
  weight = 1;
}

class UtilizationShapePoint {
  @IsInt()
  @Min(0)
  @Max(100)
  utilization = 0;

  @IsInt()
  @Min(0)
  @Max(10)
  score = 0;
}

class RequestedToCapacityRatio {
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => UtilizationShapePoint)
  shape: UtilizationShapePoint[] = [];
}

class Strategy {
  @IsIn(['LeastAllocated', 'MostAllocated', 'RequestedToCapacityRatio'])
  type = 'LeastAllocated';

  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => ResourceSpec)
  resources: ResourceSpec[] = [];

  @IsOptional()
  @ValidateNested()
  @Type(() => RequestedToCapacityRatio)
  requestedToCapacityRatio?: RequestedToCapacityRatio;
}

/** Members that the arguments of every plugin may have. */
class TypedArguments {
  @IsOptional()
  @IsString()
  apiVersion?: string;

  @IsOptional()
  @IsString()
  kind?: string;
}

const resourceName = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-\w.]*[A-Za-z0-9])?$/;
const groupName = /^[A-Za-z0-9]([-\w.]*[A-Za-z0-9])?$/;

class NodeResourcesFitArgs extends TypedArguments {
  @IsArray()
  @Matches(resourceName, { each: true, message: 'each of ignoredResources must be the name of a resource' })
  ignoredResources: string[] = [];

  @IsArray()
  @Matches(groupName, { each: true, message: 'each of ignoredResourceGroups must be the part of a name before the slash' })
  ignoredResourceGroups: string[] = [];

  @ValidateNested()
  @Type(() => Strategy)
  scoringStrategy = new Strategy();
}

class NodeResourcesBalancedAllocationArgs extends TypedArguments {
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => ResourceSpec)
  resources: ResourceSpec[] = [];
}

class InterPodAffinityArgs extends TypedArguments {
  @IsInt()
  @Min(0)
  @Max(100)
  hardPodAffinityWeight = 1;
}

class NodeAffinityArgs extends TypedArguments {
  @IsOptional()
  @ValidateNested()
  @Type(() => AddedAffinity)
  addedAffinity?: AddedAffinity;
}

class DefaultConstraint {
  @IsInt()
  @Min(1)
  maxSkew = 0;

  @Matches(resourceName, { message: 'topologyKey must be the name of a label' })
  topologyKey = '';

  @IsIn(['DoNotSchedule', 'ScheduleAnyway'])
  whenUnsatisfiable = '';
}

class PodTopologySpreadArgs extends TypedArguments {
  @IsIn(['System', 'List'])
  defaultingType = 'System';

  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => DefaultConstraint)
  defaultConstraints: DefaultConstraint[] = [];
}

/** Parts of the filters and scores that arguments change. */
export type ProfileArguments = FilterArguments & ScoreArguments;

/** Readers of the arguments by plugin. Arguments that a class does not have are refused by name. */
const readers: Readonly<Record<string, (args: object, place: string) => ProfileArguments>> = {
  NodeResourcesFit: (args, place) => {
    const {
      scoringStrategy,
      ignoredResources: names,
      ignoredResourceGroups: groups,
    } = readConfiguration(NodeResourcesFitArgs, args, place);
    return { scoringStrategy: strategyOf(scoringStrategy, `${place}.scoringStrategy`), ignoredResources: { names, groups } };
  },
  NodeAffinity: (args, place) => {
    const { addedAffinity } = readConfiguration(NodeAffinityArgs, args, place);
    if (!addedAffinity) return {};
    const problems = problemsOfAffinity(addedAffinity, `${place}.addedAffinity`);
    if (problems.length > 0) throw new ConfigurationError(problems);
    return { addedAffinity };
  },
  PodTopologySpread: (args, place) => {
    const { defaultingType, defaultConstraints: constraints } = readConfiguration(PodTopologySpreadArgs, args, place);
    const isSystem = defaultingType === 'System';
    const same = (one: DefaultConstraint) => (other: DefaultConstraint) =>
      one.topologyKey === other.topologyKey && one.whenUnsatisfiable === other.whenUnsatisfiable;
    const problems = constraints.flatMap((one, i) =>
      constraints.findIndex(same(one)) < i
        ? [`${place}.defaultConstraints[${i}]: duplicate value {${one.topologyKey}, ${one.whenUnsatisfiable}}`]
        : [],
    );
    if (isSystem && constraints.length > 0) problems.push(`${place}.defaultingType: must be List when defaultConstraints are not empty`);
    if (problems.length > 0) throw new ConfigurationError(problems);
    return isSystem ? {} : { defaultConstraints: { constraints, isSystem } };
  },
  NodeResourcesBalancedAllocation: (args, place) => {
    const { resources } = readConfiguration(NodeResourcesBalancedAllocationArgs, args, place);
    const names = resources.map(({ name }) => name);
    const problems = resources.flatMap(({ name, weight }, i) => [
      ...(names.indexOf(name) < i ? [`${place}.resources[${i}].name: duplicate value ${JSON.stringify(name)}`] : []),
      ...(weight === 1 ? [] : [`${place}.resources[${i}].weight: must be 1`]),
    ]);
    if (problems.length > 0) throw new ConfigurationError(problems);
    return names.length === 0 ? {} : { balancedResources: names };
  },
  InterPodAffinity: (args, place) => ({
    hardPodAffinityWeight: readConfiguration(InterPodAffinityArgs, args, place).hardPodAffinityWeight,
  }),
};

/** Reads the arguments of plugins; adds their problems to `problems`. Upstream: pkg/scheduler/apis/config/validation. */
export function readArguments(list: readonly PluginArguments[], place: string, problems: string[]): ProfileArguments {
  let all: ProfileArguments = {};
  const seen = new Set<string>();
  for (const [i, { name, args }] of list.entries()) {
    const here = `${place}[${i}]`;
    const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
    if (seen.has(name)) problems.push(`${here}.name: duplicate value ${JSON.stringify(name)}`);
    else if (!read) problems.push(`${here}.name: this scheduler has no arguments of ${JSON.stringify(name)}`);
    seen.add(name);
    try {
      all = { ...all, ...read?.(args, `${here}.args`) };
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      problems.push(...error.problems);
    }
  }
  return all;
}

function strategyOf({ type, resources, requestedToCapacityRatio: ratio }: Strategy, place: string): ScoringStrategy {
  const weighted = resources.length === 0 ? cpuAndMemory : resources;
  const isRatio = type === 'RequestedToCapacityRatio';
  if (isRatio !== (ratio !== undefined)) {
    const problem = isRatio
      ? 'must be specified when type is RequestedToCapacityRatio'
      : 'must be omitted when type is not RequestedToCapacityRatio';
    throw new ConfigurationError([`${place}.requestedToCapacityRatio: ${problem}`]);
  }
  if (!ratio) return { resources: weighted, score: type === 'MostAllocated' ? mostAllocated : leastAllocated };
  const { shape } = ratio;
  const here = `${place}.requestedToCapacityRatio.shape`;
  if (shape.length === 0) throw new ConfigurationError([`${here}: at least one point must be specified`]);
  const unsorted = shape.findIndex(({ utilization }, i) => i > 0 && utilization <= (shape[i - 1] as UtilizationShapePoint).utilization);
  if (unsorted > 0) throw new ConfigurationError([`${here}[${unsorted}].utilization: values must be sorted in increasing order`]);
  return requestedToCapacityRatio(weighted, shape);
}
