/**
 * Decorators of configuration classes: those of class-validator, and class-transformer's `Type` for nested classes; and the error that a
 * plugin throws for an invalid configuration.
 */
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
