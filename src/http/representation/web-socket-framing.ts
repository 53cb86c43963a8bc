/**
 * Watch events as WebSocket messages. Source: RFC 6455, section 5.2. Like upstream, one event per
 * message, text or binary by encoding.
 */
import { joinFrames } from "../../request/web-socket/frames.ts";
import type { EventFraming, FramedEvent } from "./event-framing.ts";

/** @returns a framing whose frames are the same for every client, because servers do not mask */
export function webSocketFrames(framing: EventFraming): EventFraming {
  const { contentType, message, isText } = framing;
  return { contentType, message, isText, join: (events) => joinMessages(events, framing) };
}

function joinMessages(events: readonly FramedEvent[], { message, isText }: EventFraming): Buffer {
  return joinFrames(events.map(message), { isText });
}
