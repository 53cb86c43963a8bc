/** The default theme, with diagrams. */
import DefaultTheme from "vitepress/theme";
import "./style.css";
import { defineComponent, h, onMounted, ref } from "vue";

let diagrams = 0;

const MermaidDiagram = defineComponent({
  props: { code: { type: String, required: true } },
  setup({ code }) {
    const svg = ref("");
    onMounted(async () => {
      const { default: mermaid } = await import("mermaid");
      mermaid.initialize({ startOnLoad: false, securityLevel: "strict" });
      ({ svg: svg.value } = await mermaid.render(`diagram-${diagrams++}`, decodeURIComponent(code)));
    });
    return () => h("div", { class: "mermaid", innerHTML: svg.value });
  },
});

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }: { app: { component(name: string, component: unknown): void } }) =>
    app.component("MermaidDiagram", MermaidDiagram),
};
