package dev.coxswain.junit;

/**
 * An object of an {@link Installation}.
 *
 * @param created false if it existed before: it was changed then, and stays when the others are removed
 */
public record InstalledObject(String apiVersion, String kind, String namespace, String name, boolean created) {}
