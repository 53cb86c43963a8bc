/** What bodies and answers in YAML are called. */
export const yamlType = "application/yaml";
