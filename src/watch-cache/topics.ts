/**
 * Assigns events to topics, so that a thousand subscribers of one object each do not have to filter
 * all events.
 */
import type { CacheEvent, Entry, Topic } from "./contract.ts";

/** Returns a unique string for a topic. Keys begin with a slash, field names do not. */
export function topicText(topic: Topic): string {
  if ("key" in topic) return topic.key;
  return "prefix" in topic ? topic.prefix : fieldTopic(topic.field, topic.value);
}

/**
 * Returns the events of each topic, in order.
 * @param subscribed the topics that have subscribers, as {@link topicText}; others are ignored
 * @param fields fields that have topics, in addition to `metadata.name`
 */
export function eventsByTopic(
  batch: readonly CacheEvent[],
  subscribed: ReadonlyMap<string | undefined, unknown>,
  fields: readonly string[],
): ReadonlyMap<string, readonly CacheEvent[]> {
  const found = new Map<string, CacheEvent[]>();
  if (subscribed.size === (subscribed.has(undefined) ? 1 : 0)) return found;
  for (const event of batch) {
    for (const topic of topicsOf(event, fields)) {
      if (!subscribed.has(topic)) continue;
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
