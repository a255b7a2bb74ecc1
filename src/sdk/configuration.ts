/** What classes of configuration are decorated with: class-validator's decorators, and class-transformer's `Type` for what is nested; and what plugins throw that cannot do with what they were given. */
export { ConfigurationError } from '#apiserver/plugins/read-configuration';
export { Expose, Type } from 'class-transformer';
export {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayNotEmpty,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
