import 'reflect-metadata';
import { Type } from 'class-transformer';
import { IsArray, IsInt, IsString, Min, ValidateNested } from 'class-validator';
import { expect, it } from 'vitest';
import { ConfigurationError, readConfiguration } from './read-configuration.ts';

class Limit {
  @IsString()
  name = '';
  @IsInt()
  @Min(1)
  most = 10;
}
class Limits {
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => Limit)
  limits: Limit[] = [];
}

it('applies defaults and instantiates nested classes', () => {
  const { limits } = readConfiguration(Limits, { limits: [{ name: 'a' }] }, 'configuration');
  expect(limits).toEqual([{ name: 'a', most: 10 }]);
  expect(limits[0]).toBeInstanceOf(Limit);
  expect(readConfiguration(Limits, {}, 'configuration').limits).toEqual([]);
});

it.each([
  { name: 'a non-object', data: [], problems: ['configuration must be an object'] },
  { name: 'unknown members', data: { limit: [] }, problems: ['configuration.limit is unknown'] },
  {
    name: 'all problems with their paths',
    data: { limits: [{ name: 1 }, { name: 'b', most: 0, least: 1 }] },
    problems: [
      'configuration.limits[0].name: name must be a string',
      'configuration.limits[1].most: most must not be less than 1',
      'configuration.limits[1].least is unknown',
    ],
  },
])('reports $name', ({ data, problems }) => {
  const read = (): unknown => readConfiguration(Limits, data, 'configuration');
  expect(read).toThrow(ConfigurationError);
  try {
    read();
  } catch (error) {
    expect([...(error as ConfigurationError).problems].sort()).toEqual([...problems].sort());
  }
});

it('reports a member of the class without a decorator as such', () => {
  class Forgetful {
    labels: string[] = [];
  }
  for (const data of [{}, { labels: ['team'] }])
    expect(() => readConfiguration(Forgetful, data, 'Forgetful')).toThrow(
      'Forgetful.labels has no decorator in class Forgetful, such as @IsString(): each member needs one',
    );
});
