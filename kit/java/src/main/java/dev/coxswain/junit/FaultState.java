package dev.coxswain.junit;

import java.util.Map;

/** A rule of a server, and how often its fault has happened. */
public record FaultState(String id, Map<String, Object> match, Map<String, Object> fault, int hits) {}
