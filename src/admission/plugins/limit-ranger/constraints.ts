/** The comparisons of LimitRanger, with upstream's texts. */
import { formatQuantity } from "../../../lib/quantity/quantity.ts";
import type { Amount, Bound } from "./limits.ts";

/** What a container, pod or claim uses. Undefined for resources that it does not name. */
export interface Usage {
  request(resource: string): Amount | undefined;
  limit(resource: string): Amount | undefined;
}

/** Thousandths of a larger value do not fit into 64 bits. */
const milliMax = (2n ** 63n - 1n) / 1000n;

const text = ({ quantity }: Amount): string => formatQuantity(quantity);

/** Numbers of the same unit: thousandths if all amounts permit it. */
function comparable(...amounts: readonly Amount[]): (amount: Amount) => number | bigint {
  return amounts.every(({ value }) => value <= milliMax) ? ({ milli }) => milli : ({ value }) => value;
}

/** @returns upstream's text if the request or the limit is lower than the bound */
export function belowMin(type: string, { resource, amount }: Bound, usage: Usage): string | undefined {
  const [request, limit] = [usage.request(resource), usage.limit(resource)];
  const what = `minimum ${resource} usage per ${type} is ${text(amount)}`;
  if (request === undefined) return `${what}.  No request is specified`;
  const number = comparable(amount, request, ...(limit === undefined ? [] : [limit]));
  if (number(request) < number(amount)) return `${what}, but request is ${text(request)}`;
  if (limit !== undefined && number(limit) < number(amount)) return `${what}, but limit is ${text(limit)}`;
}

/** @returns upstream's text if the limit or the request is higher than the bound */
export function aboveMax(type: string, { resource, amount }: Bound, usage: Usage): string | undefined {
  const [request, limit] = [usage.request(resource), usage.limit(resource)];
  const what = `maximum ${resource} usage per ${type} is ${text(amount)}`;
  if (limit === undefined) return `${what}.  No limit is specified`;
  const number = comparable(amount, limit, ...(request === undefined ? [] : [request]));
  if (number(limit) > number(amount)) return `${what}, but limit is ${text(limit)}`;
  if (request !== undefined && number(request) > number(amount)) return `${what}, but request is ${text(request)}`;
}

/** As {@link aboveMax}, for types that have no limits. */
export function requestAboveMax(type: string, { resource, amount }: Bound, usage: Usage): string | undefined {
  const request = usage.request(resource);
  const what = `maximum ${resource} usage per ${type} is ${text(amount)}`;
  if (request === undefined) return `${what}.  No request is specified`;
  const number = comparable(amount, request);
  if (number(request) > number(amount)) return `${what}, but request is ${text(request)}`;
}

/** @returns upstream's text if the limit divided by the request is higher than the bound */
export function aboveRatio(type: string, { resource, amount }: Bound, usage: Usage): string | undefined {
  const [request, limit] = [usage.request(resource), usage.limit(resource)];
  const what = `${resource} max limit to request ratio per ${type} is ${text(amount)}`;
  const number = comparable(amount, ...[request, limit].filter((each) => each !== undefined));
  if (request === undefined || isZero(number(request))) return `${what}, but no request is specified or request is 0`;
  if (limit === undefined || isZero(number(limit))) return `${what}, but no limit is specified or limit is 0`;
  const ratio = Number(number(limit)) / Number(number(request));
  const isAbove = amount.value <= milliMax ? ratio * 1000 > Number(amount.milli) : ratio > Number(amount.value);
  if (isAbove) return `${what}, but provided ratio is ${formatSixDigits(ratio)}`;
}

function isZero(number: number | bigint): boolean {
  return Number(number) === 0;
}

/**
 * As Go's verb `%f`, which rounds a tie to the even digit; `toFixed` rounds it up. A tie has exactly
 * seven digits after the point.
 */
function formatSixDigits(ratio: number): string {
  const [rounded, seven] = [ratio.toFixed(6), ratio.toFixed(7)];
  if (!seven.endsWith("5") || Number(seven) !== ratio) return rounded;
  const down = seven.slice(0, -1);
  return Number(down.at(-1)) % 2 === 0 ? down : rounded;
}
