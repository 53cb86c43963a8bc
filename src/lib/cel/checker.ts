/** The type checker: finds types, variables and overloads. Source: cel-go, checker/checker.go */
import { areAssignable, isAssignable, mostGeneral, type Substitutions, substitute } from "./assignable.ts";
import type { Ast, Call, Comprehension, Expr, ListLiteral, MapLiteral, Select, StructLiteral } from "./ast.ts";
import type { FunctionDeclaration, OverloadDeclaration, TypeResolver, VariableDeclaration } from "./declarations.ts";
import { CelSyntaxError } from "./errors.ts";
import type { Issue } from "./source.ts";
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  dynType,
  errorType,
  formatType,
  intType,
  isDyn,
  isDynOrError,
  isOptional,
  listType,
  mapType,
  nullType,
  objectType,
  optionalType,
  parameterType,
  sameType,
  stringType,
  typeOf,
  uintType,
} from "./types.ts";
import { isInt } from "./values/int.ts";
import { CelDouble, CelUint, type CelValue } from "./values/value.ts";

/** What an identifier or a call refers to. */
export type Reference =
  | { readonly kind: "variable"; readonly name: string; readonly value: CelValue | undefined }
  | {
      readonly kind: "call";
      readonly declaration: FunctionDeclaration;
      /** The overloads that fit the types of the arguments. */
      readonly overloads: readonly OverloadDeclaration[];
      /** Whether the call's target is part of the function name, as in `optional.of(1)`. */
      readonly qualified: boolean;
    };

/** An expression with types and references. */
export interface CheckedAst extends Ast {
  /** Of the whole expression. */
  readonly type: CelType;
  /** By the id of the expression. */
  readonly types: ReadonlyMap<number, CelType>;
  /** By the id of the expression. */
  readonly references: ReadonlyMap<number, Reference>;
}

/** The declarations of an environment. */
export interface CheckerOptions {
  readonly variables: ReadonlyMap<string, VariableDeclaration>;
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly types: TypeResolver;
}

/** Checks an expression. @throws CelSyntaxError with all errors */
export function check(ast: Ast, options: CheckerOptions): CheckedAst {
  const checker = new Checker(options);
  checker.check(ast.root);
  if (checker.issues.length > 0) throw new CelSyntaxError(ast.source, checker.issues);
  const types = new Map([...checker.types].map(([id, type]) => [id, substitute(checker.substitutions, type, true)]));
  return { ...ast, type: types.get(ast.root.id) as CelType, types, references: checker.references };
}

/** The name that an expression spells. @returns `a.b.c` as one name; undefined for other expressions */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === "identifier") return expr.name;
  if (expr.kind !== "select" || expr.testOnly) return undefined;
  const operand = qualifiedName(expr.operand);
  return operand === undefined ? undefined : `${operand}.${expr.field}`;
}

class Checker {
  readonly issues: Issue[] = [];
  readonly types = new Map<number, CelType>();
  readonly references = new Map<number, Reference>();
  readonly substitutions: Substitutions = new Map();
  readonly #options: CheckerOptions;
  readonly #scopes: Map<string, CelType>[] = [];
  #freeTypes = 0;

  constructor(options: CheckerOptions) {
    this.#options = options;
  }

  /** An expression that a macro uses twice is checked once; both uses have the same variables. */
  check(expr: Expr): CelType {
    const before = this.types.get(expr.id);
    if (before !== undefined) return before;
    const type = this.#typeOfExpr(expr);
    this.types.set(expr.id, type);
    return type;
  }

  #typeOfExpr(expr: Expr): CelType {
    switch (expr.kind) {
      case "constant":
        return constantType(expr.value);
      case "identifier":
        return this.#identifier(expr, expr.name) ?? this.#undeclared(expr, expr.name);
      case "select":
        return this.#select(expr);
      case "call":
        return this.#call(expr);
      case "list":
        return this.#list(expr);
      case "map":
        return this.#map(expr);
      case "struct":
        return this.#struct(expr);
      case "comprehension":
        return this.#comprehension(expr);
    }
  }

  #issue(at: { readonly offset: number }, message: string): void {
    this.issues.push({ offset: at.offset, message });
  }

  #undeclared(at: Expr, name: string): CelType {
    this.#issue(at, `undeclared reference to '${name}' (in container '')`);
    return errorType;
  }

  #mismatch(at: { readonly offset: number }, expected: CelType, found: CelType): void {
    const [left, right] = [expected, found].map((type) => formatType(substitute(this.substitutions, type, false))) as [
      string,
      string,
    ];
    this.#issue(at, `expected type '${left}' but found '${right}'`);
  }

  #fits(found: CelType, expected: CelType): boolean {
    return isAssignable(this.substitutions, found, expected);
  }

  #newType(): CelType {
    return parameterType(`_var${this.#freeTypes++}`);
  }

  /** Variables of comprehensions hide declared ones, unless the name starts with a dot. */
  #identifier(expr: Expr, written: string): CelType | undefined {
    const name = written.replace(/^\./, "");
    if (name === written) {
      for (let at = this.#scopes.length - 1; at >= 0; at--) {
        const local = this.#scopes[at]?.get(name);
        if (local === undefined) continue;
        this.references.set(expr.id, { kind: "variable", name, value: undefined });
        return local;
      }
    }
    const declared = this.#options.variables.get(name);
    if (declared !== undefined) {
      this.references.set(expr.id, { kind: "variable", name, value: declared.value });
      return declared.type;
    }
    if (!this.#options.types.isNameable(name)) return undefined;
    this.references.set(expr.id, { kind: "variable", name, value: undefined });
    return typeOf(objectType(name));
  }

  #isLocal(name: string): boolean {
    return this.#scopes.some((scope) => scope.has(name));
  }

  #select(expr: Select): CelType {
    const name = qualifiedName(expr);
    if (name !== undefined && !this.#isLocal(name.slice(0, name.indexOf(".", 1)))) {
      const qualified = this.#identifier(expr, name);
      if (qualified !== undefined) return qualified;
    }
    const type = this.#selectField(expr, expr.operand, expr.field, false);
    return expr.testOnly ? boolType : substitute(this.substitutions, type, false);
  }

  #selectField(at: Expr, operand: Expr, field: string, optional: boolean): CelType {
    const operandType = substitute(this.substitutions, this.check(operand), false);
    const unwrap = isOptional(operandType);
    const target = unwrap ? (operandType.parameters[0] as CelType) : operandType;
    const type = this.#fieldType(at, target, field);
    return unwrap || optional ? optionalType(type) : type;
  }

  #fieldType(at: Expr, target: CelType, field: string): CelType {
    if (target.kind === "map") return target.parameters[1] as CelType;
    if (target.kind === "object") return this.#messageField(at, target.name, field);
    if (target.kind === "parameter") this.#fits(dynType, target);
    else if (target.kind === "opaque" && !isOptional(target)) {
      this.#issue(at, `unexpected failed resolution of '${target.name}'`);
      return errorType;
    } else if (!isDynOrError(target)) this.#issue(at, `type '${formatType(target)}' does not support field selection`);
    return dynType;
  }

  #messageField(at: { readonly offset: number }, typeName: string, field: string): CelType {
    if (!this.#options.types.hasType(typeName)) {
      this.#issue(at, `unexpected failed resolution of '${typeName}'`);
      return errorType;
    }
    const type = this.#options.types.fieldType(typeName, field);
    if (type === undefined) this.#issue(at, `undefined field '${field}'`);
    return type ?? errorType;
  }

  #call(expr: Call): CelType {
    if (expr.name === "_?._") return this.#optionalSelect(expr);
    const { target, args } = expr;
    for (const arg of args) this.check(arg);
    if (target === undefined) {
      const declared = this.#options.functions.get(expr.name.replace(/^\./, ""));
      return declared === undefined
        ? this.#undeclared(expr, expr.name)
        : this.#resolve(expr, declared, undefined, false);
    }
    const prefix = qualifiedName(target);
    const qualified =
      prefix === undefined ? undefined : this.#options.functions.get(`${prefix.replace(/^\./, "")}.${expr.name}`);
    if (qualified !== undefined) return this.#resolve(expr, qualified, undefined, true);
    this.check(target);
    const declared = this.#options.functions.get(expr.name);
    return declared === undefined ? this.#undeclared(expr, expr.name) : this.#resolve(expr, declared, target, false);
  }

  #optionalSelect(expr: Call): CelType {
    const [operand, field] = expr.args as [Expr, Expr];
    this.check(field);
    const name = field.kind === "constant" && typeof field.value === "string" ? field.value : "";
    const declaration = this.#options.functions.get(expr.name) ?? { name: expr.name, overloads: [] };
    this.references.set(expr.id, { kind: "call", declaration, overloads: declaration.overloads, qualified: false });
    return substitute(this.substitutions, this.#selectField(expr, operand, name, true), false);
  }

  #resolve(expr: Call, declaration: FunctionDeclaration, target: Expr | undefined, qualified: boolean): CelType {
    const args = target === undefined ? expr.args : [target, ...expr.args];
    const argTypes = args.map((arg) => this.check(arg));
    if ((declaration.name === "_&&_" || declaration.name === "_||_") && !this.#areBools(args, argTypes))
      return errorType;
    const overloads: OverloadDeclaration[] = [];
    let result: CelType | undefined;
    for (const overload of declaration.overloads) {
      if (overload.member !== (target !== undefined) || overload.parameters.length !== args.length) continue;
      const fresh: Substitutions = new Map();
      const expected = overload.parameters.map((type) => this.#instantiate(type, fresh));
      if (!areAssignable(this.substitutions, argTypes, expected)) continue;
      overloads.push(overload);
      const type = substitute(this.substitutions, this.#instantiate(overload.result, fresh), false);
      if (result === undefined) result = type;
      else if (!isDyn(result) && !sameType(type, result)) result = dynType;
    }
    if (result === undefined) return this.#noOverload(expr, declaration, argTypes, target !== undefined);
    this.references.set(expr.id, { kind: "call", declaration, overloads, qualified });
    return result;
  }

  #areBools(args: readonly Expr[], argTypes: readonly CelType[]): boolean {
    const wrong = argTypes
      .map((type, index) => ({ type, at: args[index] as Expr }))
      .filter(({ type }) => !this.#fits(type, boolType));
    for (const { type, at } of wrong) this.#mismatch(at, boolType, type);
    return wrong.length === 0;
  }

  #noOverload(expr: Call, declaration: FunctionDeclaration, argTypes: readonly CelType[], member: boolean): CelType {
    const names = argTypes.map((type) => formatType(substitute(this.substitutions, type, true)));
    const applied = member ? `${names[0]}.(${names.slice(1).join(", ")})` : `(${names.join(", ")})`;
    this.#issue(expr, `found no matching overload for '${declaration.name}' applied to '${applied}'`);
    return errorType;
  }

  /** Replaces the type parameters of a declaration by new ones, separate for each use. */
  #instantiate(type: CelType, fresh: Substitutions): CelType {
    if (type.kind === "parameter") {
      const found = fresh.get(type.name) ?? this.#newType();
      fresh.set(type.name, found);
      return found;
    }
    if (type.parameters.length === 0) return type;
    return {
      kind: type.kind,
      name: type.name,
      parameters: type.parameters.map((parameter) => this.#instantiate(parameter, fresh)),
    };
  }

  #join(previous: CelType | undefined, current: CelType): CelType {
    if (previous === undefined) return current;
    return this.#fits(previous, current) ? mostGeneral(previous, current) : dynType;
  }

  /** The type of `x` in `?x`, without the optional. */
  #unwrapOptional(at: Expr): CelType {
    const type = substitute(this.substitutions, this.check(at), false);
    if (isOptional(type)) return type.parameters[0] as CelType;
    if (!isDyn(type)) this.#mismatch(at, optionalType(type), type);
    return type;
  }

  #list(expr: ListLiteral): CelType {
    let element: CelType | undefined;
    for (const [index, item] of expr.elements.entries()) {
      element = this.#join(element, expr.optionalIndices.has(index) ? this.#unwrapOptional(item) : this.check(item));
    }
    return listType(element ?? this.#newType());
  }

  #map(expr: MapLiteral): CelType {
    let key: CelType | undefined;
    let value: CelType | undefined;
    for (const entry of expr.entries) {
      key = this.#join(key, this.check(entry.key));
      value = this.#join(value, entry.optional ? this.#unwrapOptional(entry.value) : this.check(entry.value));
    }
    return mapType(key ?? this.#newType(), value ?? this.#newType());
  }

  #struct(expr: StructLiteral): CelType {
    const type = this.#identifier(expr, expr.name);
    if (type === undefined) return this.#undeclared(expr, expr.name);
    if (type.kind !== "type") {
      this.#issue(expr, `'${formatType(type)}' is not a type`);
      return errorType;
    }
    const message = type.parameters[0] ?? dynType;
    if (message.kind !== "object") {
      this.#issue(expr, `'${formatType(message)}' is not a message type`);
      return errorType;
    }
    for (const field of expr.fields) {
      const found = field.optional ? this.#unwrapOptional(field.value) : this.check(field.value);
      const expected = this.#messageField(field, message.name, field.name);
      if (this.#fits(expected, found)) continue;
      const foundText = formatType(substitute(this.substitutions, found, false));
      this.#issue(
        field,
        `expected type of field '${field.name}' is '${formatType(expected)}' but provided type is '${foundText}'`,
      );
    }
    return message;
  }

  #comprehension(expr: Comprehension): CelType {
    const range = substitute(this.substitutions, this.check(expr.range), false);
    const accumulator = this.check(expr.init);
    this.#scopes.push(new Map([[expr.accumulator, accumulator]]));
    const [first, second] = this.#elementTypes(expr, range);
    const loop = new Map([[expr.variable, first]]);
    if (expr.variable2 !== undefined) loop.set(expr.variable2, second);
    this.#scopes.push(loop);
    this.#assert(expr.condition, boolType);
    this.#assert(expr.step, accumulator);
    this.#scopes.pop();
    const result = this.check(expr.result);
    this.#scopes.pop();
    return substitute(this.substitutions, result, false);
  }

  #assert(expr: Expr, expected: CelType): void {
    const type = this.check(expr);
    if (!this.#fits(expected, type)) this.#mismatch(expr, expected, type);
  }

  /** The types of the one or two variables. */
  #elementTypes(expr: Comprehension, range: CelType): [CelType, CelType] {
    if (range.kind === "list") {
      const element = range.parameters[0] as CelType;
      return expr.variable2 === undefined ? [element, element] : [intType, element];
    }
    if (range.kind === "map") return range.parameters as [CelType, CelType];
    if (range.kind === "parameter") this.#fits(dynType, range);
    if ((isDynOrError(range) && range.kind !== "any") || range.kind === "parameter") return [dynType, dynType];
    this.#issue(
      expr.range,
      `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
    );
    return [errorType, errorType];
  }
}

function constantType(value: CelValue): CelType {
  if (value === null) return nullType;
  if (isInt(value)) return intType;
  if (typeof value === "boolean") return boolType;
  if (typeof value === "string") return stringType;
  if (value instanceof CelUint) return uintType;
  if (value instanceof CelDouble) return doubleType;
  return value instanceof Uint8Array ? bytesType : dynType;
}
