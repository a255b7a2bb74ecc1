import { IsArray, IsInt, IsObject, IsOptional, IsString, Matches, Max, Min, Type, ValidateNested } from 'kubenest/sdk/configuration';

/** A plugin of the scheduler in a list of a profile. */
export class PluginReference {
  @IsString()
  name = '';

  /** Weight of its score. Default: 1. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(100)
  weight?: number;
}

/** Plugins to enable in addition to the default ones, and default ones to disable; `*` disables all. */
export class PluginSet {
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => PluginReference)
  enabled: PluginReference[] = [];

  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => PluginReference)
  disabled: PluginReference[] = [];
}

/** Plugins by extension point. */
export class ProfilePlugins {
  @ValidateNested()
  @Type(() => PluginSet)
  multiPoint = new PluginSet();

  @ValidateNested()
  @Type(() => PluginSet)
  filter = new PluginSet();

  @ValidateNested()
  @Type(() => PluginSet)
  postFilter = new PluginSet();

  @ValidateNested()
  @Type(() => PluginSet)
  score = new PluginSet();
}

/** Arguments of a plugin. */
export class PluginArguments {
  @IsString()
  name = '';

  @IsObject()
  args: Record<string, unknown> = {};
}

/** A profile: the plugins for the pods of one scheduler name. */
export class SchedulerProfile {
  @Matches(/./, { message: 'schedulerName must be set' })
  schedulerName = 'default-scheduler';

  @ValidateNested()
  @Type(() => ProfilePlugins)
  plugins = new ProfilePlugins();

  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => PluginArguments)
  pluginConfig: PluginArguments[] = [];
}

/**
 * The members of KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) that the scheduler in the server has. Upstream:
 * k8s.io/kube-scheduler/config/v1.
 */
export class SchedulerConfiguration {
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => SchedulerProfile)
  profiles: SchedulerProfile[] = [new SchedulerProfile()];

  @IsInt()
  @Min(1)
  podInitialBackoffSeconds = 1;

  @IsInt()
  @Min(1)
  podMaxBackoffSeconds = 10;
}
