import { readText } from '#apiserver/base/system-error';
import { readConfiguration } from '#apiserver/plugins/read-configuration';
import type { SchedulerConfiguration } from '#plugins/scheduler/configuration/scheduler-configuration';
import { parseStructured } from './structured-file.ts';

/**
 * Reads a file of kind KubeSchedulerConfiguration. Rejects with all problems; members that the scheduler in the server does not have are
 * refused by name. Upstream: pkg/scheduler/apis/config/v1.
 */
export async function readSchedulerConfiguration(file: string): Promise<SchedulerConfiguration> {
  const fields = parseStructured(await readText(file), 'kubescheduler.config.k8s.io', 'KubeSchedulerConfiguration', ['v1']);
  const [{ SchedulerConfiguration: Configuration }, { compileConfiguration }] = await Promise.all([
    import('#plugins/scheduler/configuration/scheduler-configuration'),
    import('#plugins/scheduler/configuration/compile-configuration'),
  ]);
  const configuration = readConfiguration(Configuration, fields, 'KubeSchedulerConfiguration');
  compileConfiguration(configuration);
  return configuration;
}
