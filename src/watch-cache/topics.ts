/** Which events concern which subscribers, so that a thousand of them who want one object each do not look at all events. */
import type { CacheEvent, Entry, Topic } from "./contract.ts";

/** The same text for the same topic. Keys begin with a slash, names of fields do not. */
export function topicText(topic: Topic): string {
  if ("key" in topic) return topic.key;
  return "prefix" in topic ? topic.prefix : fieldTopic(topic.field, topic.value);
}

/**
 * The events of each topic, in order.
 * @param wanted no others are looked for
 * @param fields that have topics besides `metadata.name`
 */
export function eventsByTopic(
  batch: readonly CacheEvent[],
  wanted: ReadonlyMap<string | undefined, unknown>,
  fields: readonly string[],
): ReadonlyMap<string, readonly CacheEvent[]> {
  const found = new Map<string, CacheEvent[]>();
  if (wanted.size === (wanted.has(undefined) ? 1 : 0)) return found;
  for (const event of batch) {
    for (const topic of topicsOf(event, fields)) {
      if (!wanted.has(topic)) continue;
      const events = found.get(topic);
      if (events === undefined) found.set(topic, [event]);
      else if (events.at(-1) !== event) events.push(event);
    }
  }
  return found;
}

function topicsOf({ entry, previous }: CacheEvent, fields: readonly string[]): string[] {
  const topics = [
    entry.key,
    entry.key.slice(0, entry.key.lastIndexOf("/") + 1),
    fieldTopic("metadata.name", entry.index.name),
  ];
  for (const field of fields) {
    topics.push(valueTopic(entry, field));
    if (previous !== undefined) topics.push(valueTopic(previous, field));
  }
  return topics;
}

function valueTopic(entry: Entry, field: string): string {
  return fieldTopic(field, entry.index.fields.get(field) ?? "");
}

function fieldTopic(field: string, value: string): string {
  return `${field}=${value}`;
}
