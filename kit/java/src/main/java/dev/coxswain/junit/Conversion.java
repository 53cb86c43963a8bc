package dev.coxswain.junit;

import java.util.function.BiFunction;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;

/**
 * Converts a custom resource, which it may change, to an apiVersion such as {@code example.com/v2}, which the kit sets. The
 * message of an exception is that of the client whose request needs the conversion.
 */
@FunctionalInterface
public interface Conversion extends BiFunction<GenericKubernetesResource, String, GenericKubernetesResource> {}
