package main

import (
	"fmt"
	"math/rand"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// generatedPods returns pods with random values in the fields that checks read.
func generatedPods() []podRow {
	random := rand.New(rand.NewSource(seed))
	rows := make([]podRow, randomPods)
	for index := range rows {
		g := generator{random, 2 + random.Intn(12)}
		rows[index] = podRow{Name: fmt.Sprintf("random-%d", index), Pod: g.pod()}
	}
	return rows
}

// A generator sets a field with a probability of one in `rarity`.
type generator struct {
	*rand.Rand
	rarity int
}

func (g generator) rarely() bool { return g.Intn(g.rarity) == 0 }

func some[T any](g generator, values ...T) *T {
	if !g.rarely() {
		return nil
	}
	value := values[g.Intn(len(values))]
	return &value
}

func (g generator) text(values ...string) string {
	if chosen := some(g, values...); chosen != nil {
		return *chosen
	}
	return ""
}

func (g generator) list(values ...string) []string {
	var list []string
	for g.Intn(2) == 0 {
		list = append(list, values[g.Intn(len(values))])
	}
	return list
}

func (g generator) pod() *corev1.Pod {
	pod := &corev1.Pod{}
	spec := &pod.Spec
	spec.HostNetwork, spec.HostPID, spec.HostIPC = g.rarely(), g.rarely(), g.rarely()
	spec.HostUsers = some(g, true, false)
	if g.rarely() {
		spec.OS = &corev1.PodOS{Name: corev1.OSName(g.text("windows", "linux", "Windows"))}
	}
	if g.Intn(2) == 0 {
		spec.SecurityContext = g.podSecurityContext()
	}
	for index := range g.Intn(4) {
		spec.Volumes = append(spec.Volumes, g.volume(fmt.Sprintf("volume-%d", index)))
	}
	for index := range g.Intn(3) {
		spec.InitContainers = append(spec.InitContainers, g.container(fmt.Sprintf("init-%d", index)))
	}
	for index := range 1 + g.Intn(3) {
		spec.Containers = append(spec.Containers, g.container(fmt.Sprintf("container-%d", index)))
	}
	if g.rarely() {
		common := corev1.EphemeralContainerCommon(g.container("ephemeral"))
		spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: common}}
	}
	g.annotate(pod)
	return pod
}

func (g generator) annotate(pod *corev1.Pod) {
	pod.Annotations = map[string]string{}
	for _, prefix := range []string{"container.seccomp.security.alpha.kubernetes.io/", "container.apparmor.security.beta.kubernetes.io/"} {
		for _, name := range []string{"container-0", "init-0", "other", "ephemeral"} {
			if g.rarely() {
				values := []string{"", "runtime/default", "docker/default", "localhost/x", "unconfined", "a\"b\u00e9\n"}
				pod.Annotations[prefix+name] = values[g.Intn(len(values))]
			}
		}
	}
	if value := some(g, "", "unconfined", "localhost/", "runtime/default"); value != nil {
		pod.Annotations["seccomp.security.alpha.kubernetes.io/pod"] = *value
	}
}

func (g generator) podSecurityContext() *corev1.PodSecurityContext {
	context := &corev1.PodSecurityContext{
		RunAsNonRoot:    some(g, true, true, false),
		RunAsUser:       some[int64](g, 0, 1, 1<<60),
		SELinuxOptions:  g.seLinuxOptions(),
		SeccompProfile:  g.seccompProfile(),
		AppArmorProfile: g.appArmorProfile(),
		WindowsOptions:  g.windowsOptions(),
	}
	for _, name := range g.list("kernel.shm_rmid_forced", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_rmem", "kernel.msgmax") {
		context.Sysctls = append(context.Sysctls, corev1.Sysctl{Name: name, Value: "1"})
	}
	return context
}

func (g generator) seLinuxOptions() *corev1.SELinuxOptions {
	if !g.rarely() {
		return nil
	}
	return &corev1.SELinuxOptions{
		Type: g.text("container_t", "container_engine_t", "spc_t", "\U0001f600", "\ufffd"), User: g.text("user"), Role: g.text("role"), Level: g.text("s0"),
	}
}

func (g generator) seccompProfile() *corev1.SeccompProfile {
	profile := some(g, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeUnconfined, "")
	if profile == nil {
		return nil
	}
	return &corev1.SeccompProfile{Type: *profile}
}

func (g generator) appArmorProfile() *corev1.AppArmorProfile {
	profile := some(g, corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeLocalhost, corev1.AppArmorProfileTypeUnconfined, "")
	if profile == nil {
		return nil
	}
	return &corev1.AppArmorProfile{Type: *profile}
}

func (g generator) windowsOptions() *corev1.WindowsSecurityContextOptions {
	if !g.rarely() {
		return nil
	}
	return &corev1.WindowsSecurityContextOptions{HostProcess: some(g, true, false)}
}

func (g generator) container(name string) corev1.Container {
	container := corev1.Container{
		Name: name, LivenessProbe: g.probe(), ReadinessProbe: g.probe(), StartupProbe: g.probe(), Lifecycle: g.lifecycle(),
	}
	for range g.Intn(3) {
		port := corev1.ContainerPort{ContainerPort: 80}
		if g.rarely() {
			port.HostPort = []int32{80, 443, 9, 12345}[g.Intn(4)]
		}
		container.Ports = append(container.Ports, port)
	}
	if g.Intn(4) > 0 {
		container.SecurityContext = g.securityContext()
	}
	return container
}

func (g generator) securityContext() *corev1.SecurityContext {
	context := &corev1.SecurityContext{
		AllowPrivilegeEscalation: some(g, false, false, true),
		Privileged:               some(g, true, false),
		RunAsNonRoot:             some(g, true, true, false),
		RunAsUser:                some[int64](g, 0, 1000),
		ProcMount:                some(g, corev1.DefaultProcMount, corev1.UnmaskedProcMount, "Other"),
		SELinuxOptions:           g.seLinuxOptions(),
		SeccompProfile:           g.seccompProfile(),
		AppArmorProfile:          g.appArmorProfile(),
		WindowsOptions:           g.windowsOptions(),
	}
	if g.Intn(2) == 0 {
		context.Capabilities = &corev1.Capabilities{}
		for _, name := range g.list("CHOWN", "NET_BIND_SERVICE", "NET_RAW", "SYS_ADMIN", "chown", "\U0001f600", "\ufffd") {
			context.Capabilities.Add = append(context.Capabilities.Add, corev1.Capability(name))
		}
		for _, name := range g.list("ALL", "NET_RAW", "all") {
			context.Capabilities.Drop = append(context.Capabilities.Drop, corev1.Capability(name))
		}
	}
	return context
}

func (g generator) host() string { return g.text("", "127.0.0.1", "example.com", "10.0.0.1") }

func (g generator) handler() (*corev1.HTTPGetAction, *corev1.TCPSocketAction) {
	var get *corev1.HTTPGetAction
	var socket *corev1.TCPSocketAction
	if g.rarely() {
		get = &corev1.HTTPGetAction{Host: g.host(), Port: intstr.FromInt32(80)}
	}
	if g.rarely() {
		socket = &corev1.TCPSocketAction{Host: g.host(), Port: intstr.FromInt32(80)}
	}
	return get, socket
}

func (g generator) probe() *corev1.Probe {
	if !g.rarely() {
		return nil
	}
	get, socket := g.handler()
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: get, TCPSocket: socket}}
}

func (g generator) lifecycle() *corev1.Lifecycle {
	if !g.rarely() {
		return nil
	}
	hook := func() *corev1.LifecycleHandler {
		if !g.rarely() {
			return nil
		}
		get, socket := g.handler()
		return &corev1.LifecycleHandler{HTTPGet: get, TCPSocket: socket}
	}
	return &corev1.Lifecycle{PostStart: hook(), PreStop: hook()}
}

func (g generator) volume(name string) corev1.Volume {
	source := &corev1.VolumeSource{}
	choices := []func(){
		func() { source.ConfigMap = &corev1.ConfigMapVolumeSource{} },
		func() { source.Secret = &corev1.SecretVolumeSource{} },
		func() { source.EmptyDir = &corev1.EmptyDirVolumeSource{} },
		func() { source.Projected = &corev1.ProjectedVolumeSource{} },
		func() { source.DownwardAPI = &corev1.DownwardAPIVolumeSource{} },
		func() { source.CSI = &corev1.CSIVolumeSource{} },
		func() { source.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{} },
		func() { source.Ephemeral = &corev1.EphemeralVolumeSource{} },
		func() { source.Image = &corev1.ImageVolumeSource{} },
		func() { source.HostPath = &corev1.HostPathVolumeSource{} },
		func() { source.GCEPersistentDisk = &corev1.GCEPersistentDiskVolumeSource{} },
		func() { source.AWSElasticBlockStore = &corev1.AWSElasticBlockStoreVolumeSource{} },
		func() { source.GitRepo = &corev1.GitRepoVolumeSource{} },
		func() { source.NFS = &corev1.NFSVolumeSource{} },
		func() { source.ISCSI = &corev1.ISCSIVolumeSource{} },
		func() { source.Glusterfs = &corev1.GlusterfsVolumeSource{} },
		func() { source.RBD = &corev1.RBDVolumeSource{} },
		func() { source.FlexVolume = &corev1.FlexVolumeSource{} },
		func() { source.Cinder = &corev1.CinderVolumeSource{} },
		func() { source.CephFS = &corev1.CephFSVolumeSource{} },
		func() { source.Flocker = &corev1.FlockerVolumeSource{} },
		func() { source.FC = &corev1.FCVolumeSource{} },
		func() { source.AzureFile = &corev1.AzureFileVolumeSource{} },
		func() { source.VsphereVolume = &corev1.VsphereVirtualDiskVolumeSource{} },
		func() { source.Quobyte = &corev1.QuobyteVolumeSource{} },
		func() { source.AzureDisk = &corev1.AzureDiskVolumeSource{} },
		func() { source.PhotonPersistentDisk = &corev1.PhotonPersistentDiskVolumeSource{} },
		func() { source.PortworxVolume = &corev1.PortworxVolumeSource{} },
		func() { source.ScaleIO = &corev1.ScaleIOVolumeSource{} },
		func() { source.StorageOS = &corev1.StorageOSVolumeSource{} },
	}
	for {
		choices[g.Intn(len(choices))]()
		if g.Intn(5) > 0 {
			break
		}
	}
	if g.Intn(20) == 0 {
		source = &corev1.VolumeSource{}
	}
	return corev1.Volume{Name: name, VolumeSource: *source}
}
