# Sourced in the guest: functions that plug simulated parts of a table, each by a test driver of Linux.

# A Pi 4 B, as gpiozero asks /proc/cpuinfo for the model.
be_a_pi() {
    printf 'processor\t: 0\nRevision\t: c03115\nModel\t\t: Raspberry Pi 4 Model B Rev 1.5\n' >/etc/lab-cpuinfo
    mkdir -p /etc/systemd/system/tallybone.service.d
    printf '[Service]\nBindReadOnlyPaths=/etc/lab-cpuinfo:/proc/cpuinfo\n' >/etc/systemd/system/tallybone.service.d/lab.conf
    systemctl daemon-reload
    mountpoint -q /proc/cpuinfo || mount --bind /etc/lab-cpuinfo /proc/cpuinfo
}

# gpio-sim: 28 lines, each pulled up as if nothing were connected.
pins_plug() {
    local sim=/sys/kernel/config/gpio-sim/lab
    if [ ! -d $sim ]; then
        mkdir -p $sim/bank0
        echo 28 >$sim/bank0/num_lines
        echo pinctrl-lab >$sim/bank0/label
    fi
    [ "$(cat $sim/live)" = 1 ] || echo 1 >$sim/live
    local pin
    for pin in /sys/devices/platform/"$(cat $sim/dev_name)/$(cat $sim/bank0/chip_name)"/sim_gpio*/pull; do echo pull-up >"$pin"; done
    udevadm settle
}
pins_unplug() { echo 0 >/sys/kernel/config/gpio-sim/lab/live; }

# A USB serial adapter: the gadget is /dev/ttyGS0 for the display, the host has /dev/ttyACM0 and its link for the table.
display_plug() {
    local gadget=/sys/kernel/config/usb_gadget/display
    if [ ! -d $gadget ]; then
        mkdir -p $gadget/strings/0x409 $gadget/configs/c.1 $gadget/functions/acm.0
        echo 0x0403 >$gadget/idVendor
        echo 0x6001 >$gadget/idProduct
        echo LAB1 >$gadget/strings/0x409/serialnumber
        echo Lab >$gadget/strings/0x409/manufacturer
        echo Display >$gadget/strings/0x409/product
        ln -s $gadget/functions/acm.0 $gadget/configs/c.1/
    fi
    echo dummy_udc.0 >$gadget/UDC
    until [ -e /dev/tallybone-display ]; do sleep 0.1; done
}
display_unplug() { echo >/sys/kernel/config/usb_gadget/display/UDC; }

# v4l2loopback: a camera that shows what is written to it.
CAMERA=/dev/video20
camera_plug() {
    v4l2loopback-ctl add -n 'Lab camera' -x 1 $CAMERA >/dev/null
    udevadm settle
}
camera_unplug() { v4l2loopback-ctl delete $CAMERA; }


# in_background NAME COMMAND: runs on after this script, with its output in /lab/NAME.log. It comes before the table, as
# what is a circuit elsewhere needs no processor.
in_background() {
    local name=$1
    shift
    setsid nice -n -10 "$@" >"/lab/$name.log" 2>&1 </dev/null &
}
show_match() { in_background camera python3 /source/tests/lab/inside/camera.py /lab/match $CAMERA; }
play_match() { in_background sound env PYTHONPATH=/source python3 /source/tests/lab/inside/sound.py /lab/match; }
write_display() { in_background display python3 /source/tests/lab/inside/display.py /dev/ttyGS0 /lab/match/display.log; }

# Cameras of libcamera, one at a time. vimc has one stream, a virtual one has two, and both show bars.
PI_CAMERAS=/usr/share/libcamera/pipeline/virtual/virtual.yaml
pi_camera_install() {
    udevadm trigger --settle --subsystem-match media --subsystem-match video4linux # libcamera lists what udev knows
    echo /lab/picamera2 >/usr/local/lib/python3.13/dist-packages/lab.pth
    ln -sf system /dev/dma_heap/linux,cma # picamera2 looks for a name that the Pi's kernel gives to its heap
}
pi_camera_plug() { echo vimc.0 >/sys/bus/platform/drivers/vimc/bind; udevadm settle; }
pi_camera_unplug() { echo vimc.0 >/sys/bus/platform/drivers/vimc/unbind; }
virtual_camera_plug() { # WHAT IT SHOWS, as a line of its configuration
    mkdir -p "$(dirname $PI_CAMERAS)"
    printf '"Virtual0":\n  supported_formats: [{width: 1280, height: 720, frame_rates: [20, 30]}]\n  model: "Lab"\n  location: "CameraLocationFront"\n  %s\n' "$1" >$PI_CAMERAS
}
virtual_camera_unplug() { rm -f $PI_CAMERAS; }
