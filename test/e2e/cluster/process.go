package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Process is a child that can be ended and started again with the same arguments. Its output is
// appended to Log.
type Process struct {
	Name string
	Path string
	Args []string // without the program's name
	Env  []string // added to that of this process
	Log  string

	mu        sync.Mutex
	cmd       *exec.Cmd
	done      chan struct{} // closed when the child is gone; nil: never started
	err       error         // of Wait
	signalled bool          // a signal was sent to this child
	from      int64         // size of the log when it was started
}

// The kernel ends a child with the thread that started it (Pdeathsig), so one thread that never ends
// starts them all.
var spawns = make(chan func())

func init() {
	go func() {
		runtime.LockOSThread()
		for f := range spawns {
			f()
		}
	}()
}

// NewProcess prepares path with args; its log is dir/name.log.
func NewProcess(dir, name, path string, args ...string) *Process {
	return &Process{Name: name, Path: path, Args: args, Log: filepath.Join(dir, name+".log")}
}

// Start starts the child; it must not be running.
func (p *Process) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running() {
		return fmt.Errorf("%s: is running already", p.Name)
	}
	log, err := os.OpenFile(p.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(p.Path, p.Args...)
	cmd.Env = append(os.Environ(), p.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	spawns <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	done := make(chan struct{})
	p.cmd, p.done, p.signalled = cmd, done, false
	if info, err := log.Stat(); err == nil {
		p.from = info.Size()
	}
	go func() {
		err := cmd.Wait()
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
		close(done)
	}()
	return nil
}

func (p *Process) running() bool {
	if p.done == nil {
		return false
	}
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Running says whether the child is there.
func (p *Process) Running() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running()
}

// PID of the child that was started last; 0 before.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// Signal sends sig to the child's process group; none there is not an error.
func (p *Process) Signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running() {
		p.signalled = true
		_ = syscall.Kill(-p.cmd.Process.Pid, sig)
	}
}

// Crashed: the child ended without a signal of ours.
func (p *Process) Crashed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done != nil && !p.running() && !p.signalled
}

// Ended says whether the child that was started last is gone, and how it ended (nil: exit code 0).
func (p *Process) Ended() (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done != nil && !p.running(), p.err
}

// Output is what the child that was started last has written so far.
func (p *Process) Output() string {
	p.mu.Lock()
	from := p.from
	p.mu.Unlock()
	text, err := os.ReadFile(p.Log)
	if err != nil || int64(len(text)) < from {
		return ""
	}
	return string(text[from:])
}

// Wait waits until the child is gone and returns how it ended (nil: exit code 0).
func (p *Process) Wait(ctx context.Context) error {
	p.mu.Lock()
	done := p.done
	p.mu.Unlock()
	if done == nil {
		return nil
	}
	select {
	case <-done:
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.err
	case <-ctx.Done():
		return fmt.Errorf("%s: still running: %w", p.Name, context.Cause(ctx))
	}
}

// Kill is kill -9; the child is gone when it returns.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	_ = p.Wait(context.Background())
}

// Terminate sends SIGTERM and waits; after grace it kills and says so.
func (p *Process) Terminate(grace time.Duration) error {
	p.Signal(syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	err := p.Wait(ctx)
	if ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded) {
		p.Kill()
	}
	return err
}

// Poll calls f until it returns nil. The error names what was waited for and f's last error. A
// process of procs that ends meanwhile ends the wait.
func Poll(ctx context.Context, what string, f func(context.Context) error, procs ...*Process) error {
	for {
		err := f(ctx)
		if err == nil {
			return nil
		}
		for _, p := range procs {
			if !p.Running() {
				return fmt.Errorf("%s: %s ended (%v), see %s", what, p.Name, p.Wait(ctx), p.Log)
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w: %v", what, context.Cause(ctx), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
